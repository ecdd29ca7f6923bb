import Foundation
import Testing

@testable import CoreData

/// Values that programs keep in a store's metadata.
@Suite struct StoreMetadataTests {
  private let _stores: BlobStore
  private var _url: URL { _stores.url("Library.sqlite") }

  init() throws { _stores = try BlobStore() }

  private func _store(_ metadata: [String: Any]) throws -> [String: Any] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
    let store = try coordinator.addPersistentStore(type: .sqlite, at: _url)
    try coordinator.remove(store)
    try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: _url)
    return try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: _url)
  }

  @Test func `values of every kind of a property list come back`() throws {
    let date = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
    let found = try _store([
      "text": "Ä", "whole": -3, "wide": UInt64.max, "small": Int8(7), "real": 2.5, "single": Float(0.5),
      "flag": true,
      "date": date, "data": Data([1, 2]), "list": ["a", 1, [date]] as [Any], "tree": ["b": ["c": false]],
    ])
    #expect(found["text"] as? String == "Ä")
    #expect(found["whole"] as? Int == -3)
    #expect((found["wide"] as? NSNumber)?.uint64Value == .max)
    #expect(found["small"] as? Int == 7)
    #expect(found["real"] as? Double == 2.5)
    #expect(found["single"] as? Double == 0.5)
    #expect(found["flag"] as? Bool == true)
    #expect(found["date"] as? Date == date)
    #expect(found["data"] as? Data == Data([1, 2]))
    let list = try #require(found["list"] as? [Any])
    #expect(list[0] as? String == "a")
    #expect(list[1] as? Int == 1)
    #expect((list[2] as? [Date]) == [date])
    #expect((found["tree"] as? [String: [String: Bool]]) == ["b": ["c": false]])
  }

  @Test func `objects of Foundation come back as they are`() throws {
    let found = try _store([
      "text": NSString("x"), "one": NSNumber(value: 1), "flag": NSNumber(value: true),
      "real": NSNumber(value: 0.25),
      "decimal": NSDecimalNumber(string: "1.5"), "list": NSArray(array: [NSNumber(value: false)]),
      "tree": NSDictionary(dictionary: ["k": NSData(data: Data([9]))]),
    ])
    #expect(found["text"] as? String == "x")
    #expect("\(try #require(found["one"]))" == "1")
    #expect("\(try #require(found["flag"]))" == "true")
    #expect(found["real"] as? Double == 0.25)
    #expect(found["decimal"] as? Double == 1.5)
    #expect("\(try #require(found["list"] as? [Any]))" == "[false]")
    #expect((found["tree"] as? [String: Data]) == ["k": Data([9])])
  }

  @Test func `an object that no property list holds is refused by its key`() throws {
    let error = try #require(throws: CocoaError.self) { try _store(["a": ["b": [1, NSNull()] as [Any]]]) }
    #expect(error.code == .propertyListWriteStream)
    #expect("\(error)".contains("the NSNull at a.b[1]"))
  }

  @Test func `refused metadata leave the store as it was`() throws {
    #expect(throws: CocoaError.self) { try _store(["mine": ProcessInfo.processInfo]) }
    let found = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: _url)
    #expect(found["mine"] == nil)
    #expect(found[NSStoreModelVersionHashesKey] != nil)
  }
}
