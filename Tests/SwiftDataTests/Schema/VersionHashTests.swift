import CoreData
import SwiftData
import TestSupport
import Testing

/// The same model classes have the version hashes of stores that Apple's SwiftData wrote.
struct VersionHashTests {
  /// Returns the hashes of the entities in a container's store, in hexadecimal.
  private func _hashes(_ types: [any PersistentModel.Type]) throws -> [String: String] {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("bar.store")
    try withExtendedLifetime(ModelContainer(for: Schema(types), configurations: .init(url: place))) {}
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: place)
    let hashes = try #require(metadata[NSStoreModelVersionHashesKey] as? [String: Data])
    return hashes.mapValues { $0.map { String(format: "%02x", $0) }.joined() }
  }

  /// Entities that are identical in several of the stores.
  private static let _garnish = "76a9959e90e79ed17b32a980a29e5368b953c5b7e7fd4073cfe063e316d44cc5"
  private static let _ingredient = "4a3b9f32df42aee19eb186b6ad03ad57c96cd3fb4532671a4063da2002cfc61a"
  private static let _ingredientBase = "a017653989a9a1b642674e178f21d0f983180ef6b26dc16736063535ab22e615"
  private static let _image = "e5242d181d1eb8e5b999d0e19f84b74db5c473219db44416e51022dfab605201"

  @Test func `a store of 1410 has the hashes of its classes`() throws {
    #expect(
      try _hashes([Bar.Cocktail.self]) == [
        "Cocktail": "78b8be45a61c914cccf034ad2da209e146fce08f2c5906a791c1091761613590",
        "Garnish": Self._garnish, "Ingredient": Self._ingredient, "IngredientBase": Self._ingredientBase,
      ])
  }

  @Test func `a store of 1403 has the hashes of its classes`() throws {
    #expect(
      try _hashes([FormerBar.Cocktail.self]) == [
        "Cocktail": "e3811a6b3af82f1b85b364ff94036ece95986f8422c941f834787002c3bffff5",
        "CocktailImage": Self._image, "Garnish": Self._garnish, "Ingredient": Self._ingredient,
        "IngredientBase": "b7204663387a5680bdfd9bed01991300dbeccf23d6a9eba4f9902b6341dfac0e",
      ])
  }

  @Test func `a store of 1405 has the hashes of its classes`() throws {
    #expect(
      try _hashes([BarWithNotes.Cocktail.self]) == [
        "Cocktail": "4aabf571a7da99d9a8ef01205e4a9e4112fb6468ad98108ae274521ba544c4fd",
        "CocktailImage": Self._image, "Garnish": Self._garnish, "Ingredient": Self._ingredient,
        "IngredientBase": Self._ingredientBase,
      ])
  }

  @Test func `a store of 1410 with images has the hashes of its classes`() throws {
    #expect(
      try _hashes([BarWithFavorites.Cocktail.self]) == [
        "Cocktail": "bdc26e41ffeb6fa7eb8bd84f31ee41110fc48c32c4e0cf4d42caf71788f70f3c",
        "CocktailImage": Self._image, "Garnish": Self._garnish, "Ingredient": Self._ingredient,
        "IngredientBase": Self._ingredientBase,
      ])
  }
}
