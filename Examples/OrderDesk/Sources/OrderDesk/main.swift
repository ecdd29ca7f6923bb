import CoreData
import Foundation

// Servers and a worker on one PostgreSQL database: see 'run' and, for two versions of the program, 'deploy'.
//
//   OrderDesk listen URL PORT      accepts orders over HTTP, until it is told to end
//   OrderDesk serve URL NAME       accepts orders
//   OrderDesk work URL [--once]    ships orders as they arrive; with --once, ships pending orders and ends
//   OrderDesk orders URL           prints each order with its number of shipments

let words = CommandLine.arguments.dropFirst()
guard words.count >= 2, let url = URL(string: words[2]) else {
  print("usage: OrderDesk listen URL PORT | serve URL NAME | work URL [--once] | orders URL")
  exit(64)
}
do {
  let desk = try Desk(url)
  switch words[1] {
  case "listen":
    guard words.count > 2, let port = UInt16(words[3]) else {
      print("usage: OrderDesk listen URL PORT")
      exit(64)
    }
    try OrderService(desk).run(port: port)
  case "serve": OrderServer(desk, name: words.count > 2 ? words[3] : "server").run()
  case "work": try ShippingWorker(desk).run(untilIdle: words.last == "--once")
  default:
    let context = desk.container.viewContext
    let request = Order.fetchRequest()
    request.relationshipKeyPathsForPrefetching = ["shipments"]
    for order in try context.fetch(request) { print(order.number ?? "", order.shipments?.count ?? 0) }
  }
} catch {
  FileHandle.standardError.write(Data("\(error.localizedDescription)\n".utf8))
  exit(1)
}
