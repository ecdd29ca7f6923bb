import Foundation

/// All sections and items of a list at one moment, each with an identifier.
///
/// On Apple's platforms a type of UIKit and AppKit. This one has its name and shape, so that delegates of
/// fetched results controllers compile, and depends only on Foundation. A controller's snapshots contain
/// section names (`String`) and object IDs (`NSManagedObjectID`). Where code for Apple's platforms casts to
/// the generic `NSDiffableDataSourceSnapshot`, use `sections(of:items:)` here. Use it on the queue on which
/// it was received; a copy may be changed on any other.
///
/// ```swift
/// final class BookList: NSObject, NSFetchedResultsControllerDelegate {
///   func controller(
///     _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
///     didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
///   ) {
///     for section in snapshot.sections(of: String.self, items: NSManagedObjectID.self) ?? [] {
///       print(section.id, section.items.count)
///     }
///   }
/// }
/// ```
open class NSDiffableDataSourceSnapshotReference: NSObject, NSCopying {
  private var _content: SnapshotContent
  /// Creates the content on demand; nil afterwards.
  private var _source: (() -> SnapshotContent)?

  /// Creates an empty snapshot.
  public override init() {
    _content = SnapshotContent()
    super.init()
  }

  /// Creates a snapshot that calls `source` on first access.
  init(_ source: @escaping () -> SnapshotContent) {
    _content = SnapshotContent()
    _source = source
    super.init()
  }

  /// Loads the content unless it is loaded. The core calls this before its results change.
  final func loadContent() {
    guard let source = _source else { return }
    _source = nil
    _content = source()
  }

  private final var _loaded: SnapshotContent {
    loadContent()
    return _content
  }

  /// Returns an independent copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSDiffableDataSourceSnapshotReference()
    copy._content = _loaded
    return copy
  }

  /// Returns an independent copy.
  open override func copy() -> Any { copy(with: nil) }

  // MARK: Reading

  /// Number of items in all sections.
  open var numberOfItems: Int { _loaded.itemCount }

  /// Number of sections.
  open var numberOfSections: Int { _loaded.sections.count }

  /// Identifiers of the sections in order.
  open var sectionIdentifiers: [Any] { _loaded.sections.map(\.base) }

  /// Identifiers of all items in order.
  open var itemIdentifiers: [Any] { _loaded.items.map(\.base) }

  /// The number of items in a section. Traps for an unknown section, where Apple's raises.
  open func numberOfItems(inSection sectionIdentifier: Any) -> Int {
    _loaded.items(in: _section(sectionIdentifier)).count
  }

  /// The identifiers of a section's items in order. Traps for an unknown section, where Apple's raises.
  open func itemIdentifiersInSection(withIdentifier sectionIdentifier: Any) -> [Any] {
    _loaded.items(in: _section(sectionIdentifier)).map(\.base)
  }

  /// The section of an item; nil for an unknown item.
  open func sectionIdentifier(forSectionContainingItemIdentifier itemIdentifier: Any) -> Any? {
    loadContent()
    return _content.home(of: Self._identifier(itemIdentifier))?.base
  }

  /// The position of an item among all items; `NSNotFound` for an unknown item.
  open func index(ofItemIdentifier itemIdentifier: Any) -> Int {
    let item = Self._identifier(itemIdentifier)
    loadContent()
    guard let home = _content.home(of: item) else { return NSNotFound }
    let before = _content.sections.prefix { $0 != home }.reduce(0) { $0 + _content.items(in: $1).count }
    return before + _content.items(in: home).firstIndex(of: item)!
  }

  /// The position of a section; `NSNotFound` for an unknown section.
  open func index(ofSectionIdentifier sectionIdentifier: Any) -> Int {
    _loaded.sections.firstIndex(of: Self._identifier(sectionIdentifier)) ?? NSNotFound
  }

  /// Sections to reload.
  open var reloadedSectionIdentifiers: [Any] { _loaded.reloadedSections.map(\.base) }

  /// Items to reload: in a controller's snapshot those that were updated or moved.
  open var reloadedItemIdentifiers: [Any] { _loaded.reloadedItems.map(\.base) }

  /// Items whose cells need updating.
  open var reconfiguredItemIdentifiers: [Any] { _loaded.reconfiguredItems.map(\.base) }

  /// The sections with their items, typed; nil if an identifier has another type. Replaces the cast that code
  /// for Apple's platforms uses.
  public final func sections<Section, Item>(of section: Section.Type, items: Item.Type) -> [(
    id: Section, items: [Item]
  )]? {
    let content = _loaded
    var result: [(id: Section, items: [Item])] = []
    for section in content.sections {
      guard let id = section.base as? Section else { return nil }
      let items = content.items(in: section).compactMap { $0.base as? Item }
      guard items.count == content.items(in: section).count else { return nil }
      result.append((id, items))
    }
    return result
  }

  // MARK: Items

  /// Appends items to the last section. Traps without a section and for a duplicate item, where Apple's
  /// raises.
  open func appendItems(withIdentifiers identifiers: [Any]) {
    guard let last = _loaded.sections.last else {
      programmerError("a snapshot without sections has no place for items.")
    }
    _insert(identifiers, in: last, at: _content.items(in: last).count)
  }

  /// Appends items to a section.
  open func appendItems(withIdentifiers identifiers: [Any], intoSectionWithIdentifier sectionIdentifier: Any)
  {
    let section = _section(sectionIdentifier)
    _insert(identifiers, in: section, at: _loaded.items(in: section).count)
  }

  /// Inserts items before another one.
  open func insertItems(withIdentifiers identifiers: [Any], beforeItemWithIdentifier itemIdentifier: Any) {
    let place = _place(itemIdentifier)
    _insert(identifiers, in: place.section, at: place.position)
  }

  /// Inserts items after another one.
  open func insertItems(withIdentifiers identifiers: [Any], afterItemWithIdentifier itemIdentifier: Any) {
    let place = _place(itemIdentifier)
    _insert(identifiers, in: place.section, at: place.position + 1)
  }

  /// Removes items; ignores unknown ones.
  open func deleteItems(withIdentifiers identifiers: [Any]) {
    loadContent()
    _content.remove(items: Set(identifiers.map(Self._identifier)))
  }

  /// Removes all sections with their items.
  open func deleteAllItems() {
    loadContent()
    _content = SnapshotContent()
  }

  /// Moves an item before another one.
  open func moveItem(withIdentifier fromIdentifier: Any, beforeItemWithIdentifier toIdentifier: Any) {
    _move(fromIdentifier, to: toIdentifier, offset: 0)
  }

  /// Moves an item after another one.
  open func moveItem(withIdentifier fromIdentifier: Any, afterItemWithIdentifier toIdentifier: Any) {
    _move(fromIdentifier, to: toIdentifier, offset: 1)
  }

  /// Marks items to reload.
  open func reloadItems(withIdentifiers identifiers: [Any]) {
    let items = identifiers.map { _place($0).item }
    _content.reloadedItems += items
  }

  /// Marks items whose cells need updating.
  open func reconfigureItems(withIdentifiers identifiers: [Any]) {
    let items = identifiers.map { _place($0).item }
    _content.reconfiguredItems += items
  }

  // MARK: Sections

  /// Appends sections without items.
  open func appendSections(withIdentifiers sectionIdentifiers: [Any]) {
    _insert(sections: sectionIdentifiers, at: _loaded.sections.count)
  }

  /// Inserts sections before another one.
  open func insertSections(
    withIdentifiers sectionIdentifiers: [Any], beforeSectionWithIdentifier toIdentifier: Any
  ) {
    _insert(sections: sectionIdentifiers, at: _loaded.sections.firstIndex(of: _section(toIdentifier))!)
  }

  /// Inserts sections after another one.
  open func insertSections(
    withIdentifiers sectionIdentifiers: [Any], afterSectionWithIdentifier toIdentifier: Any
  ) {
    _insert(sections: sectionIdentifiers, at: _loaded.sections.firstIndex(of: _section(toIdentifier))! + 1)
  }

  /// Removes sections with their items; ignores unknown ones.
  open func deleteSections(withIdentifiers sectionIdentifiers: [Any]) {
    loadContent()
    _content.remove(sections: Set(sectionIdentifiers.map(Self._identifier)))
  }

  /// Moves a section before another one.
  open func moveSection(withIdentifier fromIdentifier: Any, beforeSectionWithIdentifier toIdentifier: Any) {
    let (from, to) = (_section(fromIdentifier), _section(toIdentifier))
    _content.move(section: from) { old, others in others.firstIndex(of: to) ?? old }
  }

  /// Moves a section after another one.
  open func moveSection(withIdentifier fromIdentifier: Any, afterSectionWithIdentifier toIdentifier: Any) {
    let (from, to) = (_section(fromIdentifier), _section(toIdentifier))
    _content.move(section: from) { old, others in others.firstIndex(of: to).map { $0 + 1 } ?? old }
  }

  /// Marks sections to reload.
  open func reloadSections(withIdentifiers sectionIdentifiers: [Any]) {
    loadContent()
    _content.reloadedSections += sectionIdentifiers.map(_section)
  }

  // MARK: Identifiers

  private static func _identifier(_ any: Any) -> AnyHashable {
    if let identifier = any as? AnyHashable { return identifier }
    programmerError("identifiers of a snapshot must be hashable; \(type(of: any)) is not.")
  }

  private final func _section(_ any: Any) -> AnyHashable {
    let section = Self._identifier(any)
    guard _loaded.has(section: section) else { programmerError("the snapshot has no section '\(section)'.") }
    return section
  }

  private final func _place(_ any: Any) -> (item: AnyHashable, section: AnyHashable, position: Int) {
    let item = Self._identifier(any)
    loadContent()
    guard let section = _content.home(of: item) else {
      programmerError("the snapshot has no item '\(item)'.")
    }
    return (item, section, _content.items(in: section).firstIndex(of: item)!)
  }

  private final func _insert(_ identifiers: [Any], in section: AnyHashable, at position: Int) {
    let items = identifiers.map(Self._identifier)
    if Set(items).count < items.count || items.contains(where: { _content.home(of: $0) != nil }) {
      programmerError("items of a snapshot must differ, and one of these is in it already: \(items).")
    }
    _content.insert(items, in: section, at: position)
  }

  private final func _insert(sections identifiers: [Any], at position: Int) {
    let sections = identifiers.map(Self._identifier)
    if Set(sections).count < sections.count || sections.contains(where: { _content.has(section: $0) }) {
      programmerError("sections of a snapshot must differ, and one of these is in it already: \(sections).")
    }
    _content.insert(sections: sections, at: position)
  }

  private final func _move(_ any: Any, to other: Any, offset: Int) {
    let item = _place(any).item
    guard item != _place(other).item else { return }
    _content.remove(items: [item])
    let place = _place(other)
    _content.insert([item], in: place.section, at: place.position + offset)
  }
}
