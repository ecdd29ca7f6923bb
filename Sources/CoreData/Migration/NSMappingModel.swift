import Foundation

/// Maps a store's objects from one model version to another.
///
/// Loaded from the program's bundles, inferred, or built in code. Not safe to change from several threads.
///
/// ```swift
/// let mapping =
///   try NSMappingModel(from: nil, forSourceModel: oldModel, destinationModel: newModel)
///   ?? NSMappingModel.inferredMappingModel(forSourceModel: oldModel, destinationModel: newModel)
/// ```
open class NSMappingModel: NSObject {
  /// Mappings of the entities, in migration order.
  open var entityMappings: [NSEntityMapping]! = [] {
    didSet { inference = nil }
  }

  /// The versions between which the mapping was inferred; nil if it was changed, and for any other mapping.
  final var inference: MappingInference?

  /// Creates a mapping model without mappings.
  public override init() { super.init() }

  /// Finds the mapping model in `bundles` for these two versions: the first with their entity hashes.
  ///
  /// Searches compiled mapping models (`.cdm`) and Xcode's editable ones (`.xcmappingmodel`), which the
  /// package manager copies unchanged.
  ///
  /// - Parameter bundles: The bundles to search; nil for the main bundle and the resource bundles beside the
  ///   program.
  /// - Returns: Nil if there is none. An unreadable one is skipped and logged to standard error.
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
  /// - Returns: Nil if it is unreadable, with the reason logged to standard error; ``load(contentsOf:)``
  ///   throws it instead.
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
  /// The latter names its versions, which must be among the program's models or beside the file.
  ///
  /// ```swift
  /// guard let url = Bundle.main.url(forResource: "Library1to2", withExtension: "cdm") else { return }
  /// let mapping = try NSMappingModel.load(contentsOf: url)
  /// ```
  ///
  /// - Throws: An error with the problem and its location.
  ///
  /// > Note: Not in Apple's Core Data.
  public class func load(contentsOf url: URL) throws -> NSMappingModel {
    let model = NSMappingModel()
    model.entityMappings = try MappingSearch(nil).mappings(at: url)
    return model
  }

  /// The mappings by name; the first of several with the same name.
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
