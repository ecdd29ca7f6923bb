import CoreDataModelFiles
import Foundation

/// Localized names of a model's parts, from the strings file beside the model, named after the model with the
/// suffix "Model".
enum ModelLocalization {
  /// Returns the strings for the model at `url` in the first preferred language available; nil if there are
  /// none.
  static func strings(forModelAt url: URL) -> [String: String]? {
    let name = url.deletingPathExtension().lastPathComponent + "Model.strings"
    let directory = url.deletingLastPathComponent()
    for place in _directories(Locale.preferredLanguages) {
      let file = place.isEmpty ? directory : directory.appendingPathComponent(place)
      guard let data = try? Data(contentsOf: file.appendingPathComponent(name)) else { continue }
      if let strings = PropertyList.object(in: data) as? [String: String] { return strings }
    }
    return nil
  }

  private static func _directories(_ languages: [String]) -> [String] {
    var places: [String] = []
    for language in languages {
      places.append("\(language).lproj")
      // "de-AT" falls back to "de".
      if let dash = language.firstIndex(of: "-") { places.append("\(language[..<dash]).lproj") }
    }
    return places + ["Base.lproj", "en.lproj", ""]
  }
}
