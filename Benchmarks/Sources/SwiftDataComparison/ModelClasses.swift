import CoreData
import SwiftData

// The same model twice: as SwiftData's classes, and as managed objects with the accessors that the build plugin
// writes.

@Model final class Route {
  var identifier: String
  var name: String
  @Relationship(inverse: \Stop.route) var stops: [Stop] = []

  init(identifier: String, name: String) {
    self.identifier = identifier
    self.name = name
  }
}

@Model final class Stop {
  #Index<Stop>([\.code], [\.identifier])
  var identifier: String
  var name: String = ""
  var latitude: Double = 0
  var longitude: Double = 0
  var code: Int = 0
  var createdAt: Date
  var active: Bool = false
  var note: String?
  var route: Route?

  init(identifier: String, createdAt: Date) {
    self.identifier = identifier
    self.createdAt = createdAt
  }
}

final class RouteObject: NSManagedObject {
  private static let _identifierKey = ManagedKey<String?>("identifier")
  private static let _nameKey = ManagedKey<String?>("name")
  private static let _stopsKey = ManagedKey<Set<StopObject>>("stops")

  var identifier: String? {
    get { Self._identifierKey[self] }
    set { Self._identifierKey[self] = newValue }
  }
  var name: String? {
    get { Self._nameKey[self] }
    set { Self._nameKey[self] = newValue }
  }
  var stops: Set<StopObject> { Self._stopsKey[self] }
}

final class StopObject: NSManagedObject {
  private static let _identifierKey = ManagedKey<String?>("identifier")
  private static let _nameKey = ManagedKey<String?>("name")
  private static let _latitudeKey = ManagedKey<Double>("latitude")
  private static let _longitudeKey = ManagedKey<Double>("longitude")
  private static let _codeKey = ManagedKey<Int64>("code")
  private static let _createdAtKey = ManagedKey<Date?>("createdAt")
  private static let _activeKey = ManagedKey<Bool>("active")
  private static let _noteKey = ManagedKey<String?>("note")
  private static let _routeKey = ManagedKey<RouteObject?>("route")

  var identifier: String? {
    get { Self._identifierKey[self] }
    set { Self._identifierKey[self] = newValue }
  }
  var name: String? {
    get { Self._nameKey[self] }
    set { Self._nameKey[self] = newValue }
  }
  var latitude: Double {
    get { Self._latitudeKey[self] }
    set { Self._latitudeKey[self] = newValue }
  }
  var longitude: Double {
    get { Self._longitudeKey[self] }
    set { Self._longitudeKey[self] = newValue }
  }
  var code: Int64 {
    get { Self._codeKey[self] }
    set { Self._codeKey[self] = newValue }
  }
  var createdAt: Date? {
    get { Self._createdAtKey[self] }
    set { Self._createdAtKey[self] = newValue }
  }
  var active: Bool {
    get { Self._activeKey[self] }
    set { Self._activeKey[self] = newValue }
  }
  var note: String? {
    get { Self._noteKey[self] }
    set { Self._noteKey[self] = newValue }
  }
  var route: RouteObject? {
    get { Self._routeKey[self] }
    set { Self._routeKey[self] = newValue }
  }
}
