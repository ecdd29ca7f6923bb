/// Results by section, each section at the position of its first model.
public struct ResultsSectionCollection<Element, SectionName>: RandomAccessCollection
where SectionName: Hashable {
  private let _sections: [ResultsSection<Element, SectionName>]

  init(_ elements: [Element], by title: (Element) -> SectionName) {
    var order: [SectionName] = []
    var members: [SectionName: [Element]] = [:]
    for element in elements {
      let name = title(element)
      if members[name] == nil { order.append(name) }
      members[name, default: []].append(element)
    }
    _sections = order.map { ResultsSection(name: $0, members[$0]!) }
  }

  /// Titles and counts.
  var shape: [SectionShape<SectionName>] { _sections.map { SectionShape(name: $0.name, count: $0.count) } }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of sections.
  public var endIndex: Int { _sections.count }
  /// The section at an index.
  public subscript(index: Int) -> ResultsSection<Element, SectionName> { _sections[index] }
  /// The titles in the order of the sections.
  public var sectionNames: [SectionName] { _sections.map(\.name) }
  /// Whether there is a section with a title.
  public func contains(sectionName: SectionName) -> Bool { sectionNames.contains(sectionName) }

  /// Index of the section with a title; nil if there is none.
  public func index(ofSectionNamed sectionName: SectionName) -> Int? {
    _sections.firstIndex { $0.name == sectionName }
  }

  /// The section with a title; nil if there is none.
  public subscript(sectionName name: SectionName) -> ResultsSection<Element, SectionName>? {
    _sections.first { $0.name == name }
  }
}

/// Title and count of a section.
struct SectionShape<Name: Hashable>: Equatable {
  let name: Name
  let count: Int
}

/// The results of one title.
public struct ResultsSection<Element, SectionName>: RandomAccessCollection, Identifiable
where SectionName: Hashable {
  /// The title.
  public let name: SectionName
  private let _elements: [Element]

  init(name: SectionName, _ elements: [Element]) {
    self.name = name
    _elements = elements
  }

  /// The title.
  public var id: SectionName { name }
  /// 0.
  public var startIndex: Int { 0 }
  /// The number of results.
  public var endIndex: Int { _elements.count }
  /// The result at an index.
  public subscript(index: Int) -> Element { _elements[index] }
}
