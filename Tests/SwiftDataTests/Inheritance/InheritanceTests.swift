import SwiftData
import Testing

@Model class Vehicle {
  var name: String
  var wheels: Int = 4
  var garage: Garage?
  init(name: String) { self.name = name }
}

@Model final class Truck: Vehicle {
  var load: Double = 0
  init(name: String, load: Double) {
    self.load = load
    super.init(name: name)
  }
}

@Model final class Garage {
  @Relationship(inverse: \Vehicle.garage) var vehicles: [Vehicle] = []
  init() {}
}

/// Classes that inherit from models.
struct InheritanceTests {
  private let _context: ModelContext

  init() throws {
    let schema = Schema([Vehicle.self, Truck.self, Garage.self])
    _context = ModelContext(
      try ModelContainer(for: schema, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    _context.insert(Vehicle(name: "car"))
    _context.insert(Truck(name: "truck", load: 3.5))
    try _context.save()
  }

  @Test func `a new subclass instance shows all its values`() {
    let truck = Truck(name: "t", load: 2)
    #expect(truck.name == "t" && truck.load == 2 && truck.wheels == 4)
    truck.name = "u"
    truck.load = 3
    #expect(truck.name == "u" && truck.load == 3)
  }

  @Test func `a fetch of the base gives instances of their classes`() throws {
    let other = ModelContext(_context.container)
    let all = try other.fetch(FetchDescriptor<Vehicle>(sortBy: [SortDescriptor(\.name)]))
    #expect(all.map(\.name) == ["car", "truck"])
    #expect((all[1] as? Truck)?.load == 3.5 && !(all[0] is Truck))
  }

  @Test func `a fetch of the subclass gives only its instances`() throws {
    let trucks = try _context.fetch(FetchDescriptor<Truck>(predicate: #Predicate { $0.load > 3 }))
    #expect(trucks.map(\.name) == ["truck"])
  }

  @Test func `a predicate on the subclass may use what it inherits`() throws {
    #expect(
      try _context.fetch(FetchDescriptor<Truck>(predicate: #Predicate { $0.name == "truck" })).count == 1)
    #expect(try _context.fetch(FetchDescriptor<Truck>(predicate: #Predicate { $0.name == "car" })).isEmpty)
  }

  @Test func `a predicate can ask for the class`() throws {
    #expect(try _context.fetch(FetchDescriptor<Vehicle>(predicate: #Predicate { $0 is Truck })).count == 1)
    let heavy = #Predicate<Vehicle> { if let truck = $0 as? Truck { truck.load > 3 } else { false } }
    #expect(try _context.fetch(FetchDescriptor<Vehicle>(predicate: heavy)).map(\.name) == ["truck"])
  }

  @Test func `a relationship to the base holds subclass instances`() throws {
    let garage = Garage()
    garage.vehicles = try _context.fetch(FetchDescriptor<Vehicle>())
    _context.insert(garage)
    try _context.save()
    let other = ModelContext(_context.container)
    let vehicles = try #require(try other.fetch(FetchDescriptor<Garage>()).first).vehicles
    #expect(vehicles.count == 2 && vehicles.contains { $0 is Truck })
  }

  @Test func `changes of inherited and own values are saved`() throws {
    let truck = try #require(try _context.fetch(FetchDescriptor<Truck>()).first)
    truck.name = "lorry"
    truck.load = 9
    try _context.save()
    let stored = try _context.stored(Truck.self)
    #expect(stored.map(\.name) == ["lorry"] && stored.map(\.load) == [9])
  }

  @Test func `deleting by class covers subclasses unless told otherwise`() throws {
    try _context.delete(model: Vehicle.self, includeSubclasses: false)
    #expect(try _context.fetch(FetchDescriptor<Vehicle>()).map(\.name) == ["truck"])
    try _context.delete(model: Vehicle.self)
    #expect(try _context.fetchCount(FetchDescriptor<Vehicle>()) == 0)
  }

  @Test func `the schema knows who inherits`() {
    let schema = Schema([Truck.self])
    #expect(schema.entitiesByName["Truck"]?.superentityName == "Vehicle")
    #expect(schema.entitiesByName["Truck"]?.storedProperties.map(\.name) == ["load"])
  }
}
