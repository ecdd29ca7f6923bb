import SwiftData

// Earlier schemas of the application whose last schema is `Bar`.

/// The schema of Core Data 1403.
enum FormerBar {
  @Model final class Cocktail {
    @Attribute(.unique) var cocktailName: String
    var id = UUID()
    var author: Bar.Credit?
    var buildOrder: Bar.Build?
    var collection: Bar.House?
    var collectionName: String = ""
    var compiledTags: Bar.Tags
    @Relationship(inverse: \Garnish.cocktails) var garnish: [Garnish]
    var glasswareType: Bar.Glass
    var ice: Bar.Ice?
    var imageAsset: CocktailImage?
    var spec: [Ingredient]
    var titleCocktail: Bool?
    var variation: Bar.Variation?

    init(name: String) {
      cocktailName = name
      compiledTags = Bar.Tags()
      garnish = []
      glasswareType = .coupe
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
    var unit: Bar.Unit

    init(_ base: IngredientBase, _ value: Double) {
      ingredientBase = base
      self.value = value
      unit = .fluidOunces
    }
  }

  @Model final class CocktailImage {
    var backgroundColor: Paint
    var drinkColor: Paint
    var drinkLayer: String
    var garnishes: [String]?
    var glassBackLayer: String
    var glassReflection: String
    var iceLayer: String?
    var inDrinkComponents: [String]?
    var innerRim: String
    var straw: String?

    init(_ paint: Paint) {
      backgroundColor = paint
      drinkColor = paint
      drinkLayer = ""
      glassBackLayer = ""
      glassReflection = ""
      innerRim = ""
    }
  }

  @Model final class IngredientBase {
    @Attribute(.unique) var name: String
    var category: Category
    var info: String?
    var isCustom: Bool = false
    var prep: Bar.Prep?
    var tags: Bar.Tags?

    init(name: String) {
      self.name = name
      category = .gin
    }
  }

  struct Paint: Codable {
    var linearRed: Float; var linearGreen: Float; var linearBlue: Float; var opacity: Float
  }
  enum Category: String, Codable { case gin = "Gin" }
}

/// The schema of Core Data 1405.
enum BarWithNotes {
  @Model final class Cocktail {
    @Attribute(.unique) var cocktailName: String
    var id = UUID()
    var author: Bar.Credit?
    var buildOrder: Bar.Build?
    var collection: Bar.House?
    var collectionName: String = ""
    var compiledTags: Bar.Tags
    @Relationship(inverse: \Garnish.cocktails) var garnish: [Garnish]
    var glasswareType: Bar.Glass
    var ice: Bar.Ice?
    var imageAsset: FormerBar.CocktailImage?
    var isCustomCocktail: Bool = false
    var notes: String?
    var spec: [Bar.Ingredient]
    var titleCocktail: Bool?
    var variation: Bar.Variation?
    var variationName: String?

    init(name: String) {
      cocktailName = name
      compiledTags = Bar.Tags()
      garnish = []
      glasswareType = .coupe
      spec = []
    }
  }

  @Model final class Garnish {
    @Attribute(.unique) var name: String
    var cocktails: [Cocktail]?

    init(name: String) { self.name = name }
  }
}

/// The first schema of Core Data 1410.
enum BarWithFavorites {
  @Model final class Cocktail {
    @Attribute(.unique) var cocktailName: String
    var id = UUID()
    var author: Bar.Credit?
    var buildOrder: Bar.Build?
    var collection: Bar.House?
    var collectionName: String = ""
    var compiledTags: Bar.Tags
    var favorite: Bool = false
    @Relationship(inverse: \Garnish.cocktails) var garnish: [Garnish]
    var glasswareType: Bar.Glass
    var ice: Bar.Ice?
    var imageAsset: FormerBar.CocktailImage?
    var isCustomCocktail: Bool = false
    var notes: String?
    var spec: [Bar.Ingredient]
    var titleCocktail: Bool?
    var variation: Bar.Variation?
    var variationName: String?

    init(name: String) {
      cocktailName = name
      compiledTags = Bar.Tags()
      garnish = []
      glasswareType = .coupe
      spec = []
    }
  }

  @Model final class Garnish {
    @Attribute(.unique) var name: String
    var cocktails: [Cocktail]?

    init(name: String) { self.name = name }
  }
}
