import Foundation
import SwiftData

// Predicates that Foundation's type checker masters alone compile with SwiftData imported, too.

final class Ingredient {
  var value = ""
}

final class Recipe {
  var name = ""
  var ingredients: [Ingredient]? = []
  var categories: [Ingredient]? = []
}

func recipes(with text: String) -> Predicate<Recipe> {
  #Predicate<Recipe> { recipe in
    recipe.name == text
      || (recipe.ingredients?.contains { $0.value == text }) == true
      || (recipe.categories?.contains { $0.value == text }) == true
  }
}
