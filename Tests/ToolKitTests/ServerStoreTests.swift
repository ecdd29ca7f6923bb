import Testing

@testable import CoreDataToolKit

@Suite struct ServerStoreTests {
  @Test(arguments: [
    ("postgresql://me:s3cret@db:5432/shop?schema=x", "postgresql://me@db:5432/shop?schema=x"),
    ("postgres://me@/shop?password=s3cret&schema=x", "postgres://me@/shop?schema=x"),
    ("POSTGRESQL://me:s3cret@[::1]/shop", "POSTGRESQL://me@[::1]/shop"),
    ("postgresql://me:s3 cret@db/shop?sslpassword=s3cret", nil),
    ("postgresql://me:s3cret@db:no/shop", nil),
  ])
  func `a URL is named without what is secret in it`(_ url: String, _ name: String?) {
    #expect(ServerStore.isURL(url))
    let found = ServerStore.name(url)
    if let name { #expect(found == name) }
    #expect(!found.contains("s3"))
  }

  @Test func `a path is no URL of a store on a server`() {
    for path in ["Books.sqlite", "-", "file:///tmp/Books.sqlite", "postgresql:Books", "/postgresql://x"] {
      #expect(!ServerStore.isURL(path))
    }
  }
}
