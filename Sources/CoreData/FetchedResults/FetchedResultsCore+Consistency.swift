import CoreDataModelSchema

extension FetchedResultsCore {
  /// What contradicts itself in the results, for tests: nothing may once the context has processed its changes.
  var inconsistencies: [String] {
    guard isFollowing, let sections, let keys else { return [] }
    var found = sections.inconsistencies
    var count = 0
    var last: SortKeys?
    var names: Set<String> = []
    for section in sections.elements {
      found += section.results.inconsistencies
      if sectionsByName[section.name] !== section {
        found.append("section '\(section.name)' is not found by its name")
      }
      if !names.insert(section.name).inserted { found.append("section '\(section.name)' is there twice") }
      if section.handle.map({ sections[$0] !== section }) ?? true {
        found.append("section '\(section.name)' has another place")
      }
      if section.results.isEmpty, sectionNameKeyPath != nil {
        found.append("section '\(section.name)' is empty")
      }
      if sectionNameKeyPath != nil { last = nil }
      for result in section.results.elements {
        count += 1
        found += _inconsistencies(of: result, in: section, after: last, keys)
        last = result.keys
      }
    }
    if count != results.count { found.append("\(results.count) results are known, \(count) listed") }
    if sectionsByName.count != sections.count { found.append("a section is known that is not listed") }
    return found
  }

  private func _inconsistencies(
    of result: FetchedResult, in section: FetchedSection, after last: SortKeys?, _ keys: FetchedKeys
  ) -> [String] {
    var found: [String] = []
    let id = result.object._objectID
    if results[ObjectIdentifier(result.object)] !== result {
      found.append("\(id) is not found among the results")
    }
    if result.section !== section { found.append("\(id) is in another section") }
    if section.results[result.handle] !== result { found.append("\(id) has another place") }
    if let last, keys.order(last, result.keys) > 0 { found.append("\(id) is listed too late") }
    // Its values may be newer than its place: a fault that fires shows what the next merge will announce.
    if result.object._flags.contains(.deleted), !result.object._flags.contains(.eventListed) {
      found.append("\(id) is deleted and listed")
    }
    return found
  }
}
