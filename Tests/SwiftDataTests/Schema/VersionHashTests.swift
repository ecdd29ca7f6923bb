import CoreData
import SwiftData
import TestSupport
import Testing

/// Version hashes of stores that Apple's SwiftData wrote come out of the same model classes.
struct VersionHashTests {
  /// Hashes of the entities of a store that a container makes, in hexadecimal.
  private func _hashes(_ types: [any PersistentModel.Type]) throws -> [String: String] {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("bar.store")
    try withExtendedLifetime(ModelContainer(for: Schema(types), configurations: .init(url: place))) {}
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: place)
    let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
    return hashes.mapValues { $0.map { String(format: "%02x", $0) }.joined() }
  }

  @Test func `composites and enumerations give the measured hashes`() throws {
    let hashes = try _hashes([Bar.Cocktail.self])
    #expect(hashes["Cocktail"] == "78b8be45a61c914cccf034ad2da209e146fce08f2c5906a791c1091761613590")
    #expect(hashes["Garnish"] == "76a9959e90e79ed17b32a980a29e5368b953c5b7e7fd4073cfe063e316d44cc5")
    #expect(hashes["Ingredient"] == "4a3b9f32df42aee19eb186b6ad03ad57c96cd3fb4532671a4063da2002cfc61a")
    #expect(hashes["IngredientBase"] == "a017653989a9a1b642674e178f21d0f983180ef6b26dc16736063535ab22e615")
  }

  @Test func `arrays and required composites give the measured hashes`() throws {
    let hashes = try _hashes([FormerBar.CocktailImage.self, FormerBar.IngredientBase.self])
    #expect(
      hashes["CocktailImage"] == "e5242d181d1eb8e5b999d0e19f84b74db5c473219db44416e51022dfab605201")
    #expect(
      hashes["IngredientBase"] == "b7204663387a5680bdfd9bed01991300dbeccf23d6a9eba4f9902b6341dfac0e")
  }
}
