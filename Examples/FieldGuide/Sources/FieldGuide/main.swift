import CoreData
import FieldGuideData
import Foundation

let context = try FieldGuideStore.open().viewContext
let marsh = Place(context: context)
marsh.name = "The marsh"
for latin in ["Ardea cinerea", "Ciconia ciconia", "Grus grus"] {
  let species = Species(context: context)
  species.latin = latin
  let sighting = Sighting(context: context)
  sighting.count = Int32(latin.count)
  sighting.addToSpecies(species)
  marsh.addToSightings(sighting)
}
try context.save()

let first = marsh.sightings?.firstObject as! Sighting
let crane = try context.fetch(Species.fetchRequest()).first { $0.latin == "Grus grus" }!
first.addToSpecies(NSSet(array: [crane]))
marsh.removeFromSightings(at: 1)
marsh.insertIntoSightings(Sighting(context: context), at: 0)
try context.save()

print(marsh.name ?? "", "has", marsh.sightings?.count ?? 0, "sightings:")
for case let sighting as Sighting in marsh.sightings ?? [] {
  let names = (sighting.species as? Set<Species> ?? []).compactMap(\.latin).sorted()
  print(sighting.count, names.isEmpty ? "nothing told apart" : names.joined(separator: ", "))
}
