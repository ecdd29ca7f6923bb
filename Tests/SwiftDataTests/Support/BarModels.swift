import SwiftData

// The schemas of stores that Apple's SwiftData wrote (Core Data 1403 and 1410), as their applications declare
// them. Includes everything that affects the hashes; values are invented.

/// The schema of Core Data 1410.
enum Bar {
  @Model final class Cocktail {
    @Attribute(.unique) var cocktailName: String
    var id = UUID()
    var author: Credit?
    var buildOrder: Build?
    var collection: House?
    var collectionName: String = ""
    var compiledTags: Tags
    var favorite: Bool = false
    @Relationship(inverse: \Garnish.cocktails) var garnish: [Garnish]
    var glasswareType: Glass
    var historicSpec: Historic?
    var ice: Ice?
    var isCustomCocktail: Bool = false
    var notes: String?
    var spec: [Ingredient]
    var titleCocktail: Bool?
    var variation: Variation?
    var variationName: String?

    init(name: String, glass: Glass = .coupe) {
      cocktailName = name
      compiledTags = Tags()
      garnish = []
      glasswareType = glass
      spec = []
    }
  }

  @Model final class Garnish {
    @Attribute(.unique) var name: String
    var cocktails: [Cocktail]?

    init(name: String) { self.name = name }
  }

  @Model final class Ingredient {
    var id = UUID()
    var ingredientBase: IngredientBase
    var value: Double
    var unit: Unit

    init(_ base: IngredientBase, _ value: Double, _ unit: Unit = .fluidOunces) {
      ingredientBase = base
      self.value = value
      self.unit = unit
    }
  }

  @Model final class IngredientBase {
    @Attribute(.unique) var name: String
    var id = UUID()
    var baseCategory: String
    var info: String?
    var isCustom: Bool = false
    var prep: Prep?
    var specialtyCategory: String = ""
    var tags: Tags?
    var umbrellaCategory: String = ""

    init(name: String, category: String) {
      self.name = name
      baseCategory = category
    }
  }

  struct Credit: Codable, Equatable {
    var id = UUID()
    var person: String
    var place: String?
    var year: String?
  }

  struct Build: Codable, Equatable { var instructions: [Step] }
  struct Step: Codable, Equatable { var id: Int; var method: String }
  struct Prep: Codable, Equatable { var id = UUID(); var prepIngredientName: String; var prepRecipe: [Step] }

  struct Tags: Codable, Equatable {
    var flavors: [Flavor]? = []
    var profiles: [String]? = []
    var styles: [String]? = []
    var booze: [Booze]? = []
    var nA: [String]? = []
  }

  enum Flavor: String, Codable { case almond = "Almond", clove = "Clove" }
  enum Booze: Codable, Equatable { case rums(Rum), gin }
  enum Rum: String, Codable { case dark = "Dark" }
  enum House: Int, Codable { case one = 1, two }
  enum Glass: String, Codable { case coupe = "Coupe", rocks = "Rocks" }
  enum Ice: String, Codable { case cubed = "Cubed" }
  enum Variation: String, Codable { case gimlet = "Gimlet" }
  enum Unit: String, Codable { case fluidOunces = "oz" }

  enum Historic: Codable {
    case algonquin, alaska, betweenTheSheets, bloodAndSand, bramble, bobbyBurns, chocolateCocktail, elDiablo,
      fogCutter, ginFizz, gimlet, silverFizz, hotToddy, mexicanFiringSquad, modernCocktail
  }
}
