// Calls BookShelfServer from eight concurrent clients, and follows its changes. A script checks the output.
//
//   swift run BookShelfVisitors

import Foundation

let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
  "catalogue-\(UUID().uuidString)")
defer { try? FileManager.default.removeItem(at: directory) }
let store = directory.appendingPathComponent("data/Catalogue.sqlite")

let first = try RunningServer(store: store)
let site = Visitor(port: first.port)
print("Health: \(try site.get("/health").text)")

// Eight clients, each adding 25 books, while a ninth reads.
let outcomes = Outcomes()
DispatchQueue.concurrentPerform(iterations: 9) { number in
  for book in 0..<25 {
    let answer =
      number == 8
      ? try? site.get("/books")
      : try? site.post("/books", #"{"title":"Book \#(book)","author":"Author \#(number)"}"#)
    outcomes.add(answer?.status ?? 0)
  }
}
print("Answers: \(outcomes.text)")
print("Books: \(try site.list("/books?limit=1000").count)")
print(
  "Author 3 has \(try site.list("/books?author=Author%203").count), the first is "
    + "\(try site.list("/books?author=Author%203&limit=1").first?["title"] ?? "-")")

// A client that keeps a copy requests the changes.
let feed = try site.object("/changes?since=0")
let insertions = (feed["changes"] as? [[String: Any]] ?? []).filter { $0["kind"] as? String == "insert" }
print("Changes: \(insertions.count) insertions, more to come: \(feed["hasMore"] as? Bool ?? true)")
let gone = insertions[0]["id"] as? String ?? ""
print(
  "Deleting one: \(try site.delete("/books/\(gone)").status), again: \(try site.delete("/books/\(gone)").status)"
)
let news = try site.object("/changes?since=\(feed["last"] as? Int ?? 0)")["changes"] as? [[String: Any]] ?? []
print(
  "News: \(news.compactMap { $0["kind"] as? String }), of the deleted book: \(news.first?["id"] as? String == gone)"
)

// Invalid requests are answered with an error.
print("No title: \(try site.post("/books", #"{"title":""}"#).text)")
print("No JSON: \(try site.post("/books", "hello").status)")
print("Too much: \(try site.post("/books", String(repeating: "x", count: 100_000)).status)")
print("Elsewhere: \(try site.get("/shelves").status), wrong method: \(try site.delete("/books").status)")
print("No HTTP at all: \(try site.raw("hello\r\n\r\n").prefix(12))")

// The books persist across a restart of the server.
print("Stopped: \(first.stop())")
let second = try RunningServer(store: store)
print("Books after a restart: \(try Visitor(port: second.port).list("/books?limit=1000").count)")
print("Stopped: \(second.stop())")
