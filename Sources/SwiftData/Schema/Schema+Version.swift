extension Schema {
  /// A version of a schema: a label, which is written into stores. The version of a store is determined by
  /// its hashes.
  public struct Version: Codable, Comparable, Hashable, Sendable, CustomStringConvertible {
    /// The first number.
    public let major: Int
    /// The second number.
    public let minor: Int
    /// The third number.
    public let patch: Int

    /// Creates a version.
    public init(_ major: Int, _ minor: Int, _ patch: Int) {
      self.major = major
      self.minor = minor
      self.patch = patch
    }

    /// The numbers with dots between them.
    public var description: String { "\(major).\(minor).\(patch)" }

    /// Orders by the numbers, the first before the others.
    public static func < (lhs: Version, rhs: Version) -> Bool {
      (lhs.major, lhs.minor, lhs.patch) < (rhs.major, rhs.minor, rhs.patch)
    }
  }
}
