import CoreData
import Foundation
import Testing

/// Places where no store can be.
@Suite struct StorePlaceTests {
  private func refusal(_ url: URL) -> CocoaError? {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    return #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .sqlite, at: url) }
  }

  @Test func aDirectoryThatIsNotThereIsNamed() {
    let directory = "/nowhere-\(UUID().uuidString)"
    let error = refusal(URL(fileURLWithPath: directory + "/Store.sqlite"))
    #expect(error?.code == .persistentStoreOpen)
    #expect(error?.localizedDescription.contains("there is no directory \(directory)") == true)
  }

  @Test func aDirectoryIsNoStore() {
    let error = refusal(FileManager.default.temporaryDirectory)
    #expect(error?.localizedDescription.contains("is a directory and no store") == true)
  }

  @Test func nothingIsCreatedBelowAFile() {
    let error = refusal(URL(fileURLWithPath: "/dev/null/Store.sqlite"))
    #expect(error?.localizedDescription.contains("/dev/null is a file and no directory") == true)
  }
}
