/// Columns of a table that would have one name, and therefore have numbers at their ends: `ZTEXT`, `ZTEXT1`.
///
/// Such are those of equally named properties of several subentities, or of elements of several composites.
package struct NumberedColumns: Sendable, Hashable {
  package struct Member: Sendable, Hashable {
    /// Number of the column in the table.
    package let column: Int
    /// The name without its number.
    package let stem: String
    /// The entity that declares the property.
    package let owner: Int
  }

  package let members: [Member]

  /// Returns the groups among a table's columns.
  ///
  /// A column whose own name ends in a number that could be another one's (`ZTEXT1` of a property `text1`)
  /// belongs to its group.
  static func groups(of columns: [(stem: String, name: String, owner: Int)]) -> [NumberedColumns] {
    guard columns.contains(where: { $0.stem != $0.name }) else { return [] }
    var groups: [[Member]] = []
    for stem in Set(columns.lazy.filter { $0.stem != $0.name }.map(\.stem)).sorted() {
      let members = columns.indices.filter { isNumbered(columns[$0].stem, stem) }
        .map { Member(column: $0, stem: columns[$0].stem, owner: columns[$0].owner) }
      if let known = groups.firstIndex(where: { !Set($0).isDisjoint(with: members) }) {
        groups[known] += members.filter { !groups[known].contains($0) }
      } else {
        groups.append(members)
      }
    }
    return groups.map { NumberedColumns(members: $0) }
  }

  /// Whether a name is a stem, or that with digits behind it.
  static func isNumbered(_ name: String, _ stem: String) -> Bool {
    guard name.utf8.starts(with: stem.utf8) else { return false }
    return name.utf8.dropFirst(stem.utf8.count).allSatisfy {
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
    }
  }
}
