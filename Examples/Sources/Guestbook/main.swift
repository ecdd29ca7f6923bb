import SwiftData

// A month of a server in a moment: a context for each request, a purge of the history each night, and an end that loses
// nothing.

let place = FileManager.default.temporaryDirectory.appendingPathComponent("guestbook-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
let guestbook = try Guestbook(at: place.appendingPathComponent("guestbook.store"))

// The end waits for the requests that have begun: each has saved, or has told its client that it has not.
try await withThrowingTaskGroup(of: Void.self) { requests in
  for name in ["Ada", "Bob", "Eve"] {
    requests.addTask { for _ in 1...50 { _ = try guestbook.welcome(name) } }
  }
  try await requests.waitForAll()
}
print(try guestbook.welcome("Ada"))
print("In the history: \(try guestbook.authors())")

// Nightly. Each reader of the history remembers a token; what lies before the oldest one is not needed any more.
try guestbook.purgeHistory(before: .now)
print("After the purge: \(try guestbook.authors())")
try guestbook.forget(before: .now)
print("After a forgetful night: \(try guestbook.authors())")
print(try guestbook.welcome("Ada"))
try FileManager.default.removeItem(at: place)
