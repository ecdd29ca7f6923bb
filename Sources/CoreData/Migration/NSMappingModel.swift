import Foundation

/// Says how the objects of a store with one version of a model become those of a store with another.
///
/// Found in the program's bundles, inferred, or put together in code. Not safe to change from several
/// threads.
///
/// ```swift
/// let mapping =
///   try NSMappingModel(from: nil, forSourceModel: oldModel, destinationModel: newModel)
///   ?? NSMappingModel.inferredMappingModel(forSourceModel: oldModel, destinationModel: newModel)
/// ```
open class NSMappingModel: NSObject {
  /// Mappings of the entities, in the order in which they are migrated.
  open var entityMappings: [NSEntityMapping]! = [] {
    didSet { inference = nil }
  }

  /// The versions that the mapping was inferred between; nil once it was changed, and for any other.
  final var inference: MappingInference?

  /// Creates a mapping model without mappings.
  public override init() { super.init() }

  /// Finds the mapping model in `bundles` that was made for these two versions: the first whose entity hashes
  /// are theirs.
  ///
  /// Looks at compiled mapping models (`.cdm`) and at those of Xcode's editor (`.xcmappingmodel`), which the
  /// package manager copies as they are.
  ///
  /// - Parameter bundles: Where to look; nil means the main bundle and the resource bundles beside the
  ///   program.
  /// - Returns: Nil if there is none. Skips one that cannot be read, with a line on the standard error.
  public convenience init?(
    from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
    destinationModel: NSManagedObjectModel?
  ) {
    guard let sourceModel, let destinationModel,
      let found = MappingSearch(bundles).mappings(from: sourceModel, to: destinationModel)
    else { return nil }
    self.init()
    entityMappings = found
  }

  /// Reads a mapping model from a `.cdm` or `.xcmappingmodel` file.
  ///
  /// - Returns: Nil if it cannot be read, with the reason on the standard error; ``load(contentsOf:)`` throws
  ///   it.
  public convenience init?(contentsOf url: URL?) {
    guard let url else { return nil }
    self.init()
    do {
      entityMappings = try MappingSearch(nil).mappings(at: url)
    } catch {
      Console.warn("the mapping model cannot be read: \(error)")
      return nil
    }
  }

  /// Reads a mapping model from a `.cdm` or `.xcmappingmodel` file.
  ///
  /// The latter names the versions that it is for, which must be among the program's models or beside it.
  ///
  /// ```swift
  /// guard let url = Bundle.main.url(forResource: "Library1to2", withExtension: "cdm") else { return }
  /// let mapping = try NSMappingModel.load(contentsOf: url)
  /// ```
  ///
  /// - Throws: An error that says what is wrong where.
  ///
  /// > Note: Not in Apple's Core Data.
  public class func load(contentsOf url: URL) throws -> NSMappingModel {
    let model = NSMappingModel()
    model.entityMappings = try MappingSearch(nil).mappings(at: url)
    return model
  }

  /// The mappings by name; of several of the same name, the first.
  ///
  /// ```swift
  /// let mapping = try NSMappingModel.inferredMappingModel(
  ///   forSourceModel: oldModel, destinationModel: newModel)
  /// let books = mapping.entityMappingsByName["IEM_Transform_Book"]
  /// books?.entityMigrationPolicyClassName = "Library.BookPolicy"
  /// ```
  open var entityMappingsByName: [String: NSEntityMapping] {
    Dictionary(
      (entityMappings ?? []).compactMap { mapping in mapping.name.map { ($0, mapping) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// Whether `object` is a mapping model with equal mappings in the same order.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSMappingModel else { return false }
    return self === other || entityMappings == other.entityMappings
  }

  open override var hash: Int { (entityMappings ?? []).map(\.hash).hashValue }

  open override var description: String {
    "<\(type(of: self)): \((entityMappings ?? []).compactMap(\.name).joined(separator: ", "))>"
  }
}
