import CoreDataToolKit
import Foundation

/// Generates the stops of a fictional city, deterministically for a number and a seed.
///
/// Replaces a real timetable if none is available: names of several lengths, some similar and some beyond
/// ASCII, coordinates clustered around a centre, identifiers in random order.
package enum GeneratedCity {
  /// Generates `count` stops with distinct identifiers.
  package static func stops(count: Int, seed: UInt64 = 42) -> [Stop] {
    var random = SeededRandom(seed: seed)
    return (0..<count).map { number in
      // An odd factor is invertible modulo a power of two, so numbers below 2^30 never collide, yet are in no
      // order.
      let identifier = String(900_000_000 + (number &* 0x2545_F491 & 0x3FFF_FFFF))
      return Stop(
        identifier: identifier, name: _name(&random),
        latitude: _rounded(52.52 + _scatter(&random) * 0.35),
        longitude: _rounded(13.41 + _scatter(&random) * 0.6))
    }
  }

  /// The stops in the format of a GTFS `stops.txt`.
  package static func feedText(_ stops: [Stop]) -> String {
    var text =
      "stop_id,stop_code,stop_name,stop_desc,stop_lat,stop_lon,zone_id,stop_url,location_type,parent_station\n"
    text.reserveCapacity(stops.count * 80)
    for stop in stops {
      text += "\(_field(stop.identifier)),,\(_field(stop.name)),,\(stop.latitude),\(stop.longitude),,,0,\n"
    }
    return text
  }

  private static func _name(_ random: inout SeededRandom) -> String {
    let street = _firsts[random.below(_firsts.count)] + _seconds[random.below(_seconds.count)]
    switch random.below(10) {
    case 0: return "S+U " + street
    case 1: return street + " (" + _districts[random.below(_districts.count)] + ")"
    case 2:
      return street + "/" + _firsts[random.below(_firsts.count)] + _seconds[random.below(_seconds.count)]
    case 3: return _districts[random.below(_districts.count)] + ", " + street
    default: return street
    }
  }

  /// From -1 to 1, around 0 most of the time.
  private static func _scatter(_ random: inout SeededRandom) -> Double {
    (random.unit() + random.unit() + random.unit()) / 1.5 - 1
  }

  private static func _rounded(_ degrees: Double) -> Double { (degrees * 1e6).rounded() / 1e6 }

  private static func _field(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x2C || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }) else {
      return text
    }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }

  private static let _firsts = [
    "Acker", "Alt-", "Amsel", "Bahnhof", "Berg", "Birken", "Brücken", "Buchen", "Dorf", "Eichen", "Erlen",
    "Feld", "Fischer", "Garten", "Gärtner", "Goethe", "Hafen", "Haupt", "Heide", "Hof", "Kastanien", "Kirch",
    "Kloster", "König", "Kranich", "Linden", "Markt", "Mühlen", "Neu", "Park", "Rathaus", "Rosen", "Schiller",
    "Schloss", "Schul", "See", "Sonnen", "Tannen", "Ulmen", "Wald", "Wasser", "Weiden", "Wiesen", "Ziegel",
  ]
  private static let _seconds = [
    "allee", "anger", "brücke", "damm", "eck", "garten", "gasse", "graben", "hof", "platz", "ring", "steig",
    "straße", "tor", "ufer", "weg",
  ]
  private static let _districts = [
    "Altstadt", "Hafenviertel", "Mitte", "Neustadt", "Nord", "Oberdorf", "Ost", "Schönau", "Süd",
    "Unterwalden", "Vorstadt", "West",
  ]
}
