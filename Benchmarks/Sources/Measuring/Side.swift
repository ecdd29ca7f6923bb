/// Who does it.
package enum Side: String, Codable, CaseIterable { case engine, floor }
