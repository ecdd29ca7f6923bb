import Testing

@testable import CoreDataPostgreSQL

/// Names of tables and columns for those of entities and attributes.
@Suite struct SnakeCaseTests {
  @Test(arguments: [
    ("CustomerOrder", "customer_order"), ("URLPath", "url_path"), ("orderID", "order_id"),
    ("iPhone", "i_phone"),
    ("aB", "a_b"), ("AB", "ab"), ("A", "a"), ("ABc", "a_bc"), ("line2Text", "line2_text"),
    ("is_Paid", "is_paid"),
    ("HTTPSOnly", "https_only"), ("plain", "plain"), ("", ""),
  ])
  func `words are told apart by their capitals`(_ name: String, _ expected: String) {
    #expect(PostgreSQLNames.snakeCase(name) == expected)
  }
}
