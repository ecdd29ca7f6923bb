/// The relations and functions of one schema, as `FROM` items of statements that read the server's catalogs.
///
/// `pg_class` and `pg_proc` have no index by schema: a condition on `relnamespace` reads the relations of the whole database,
/// which are a hundred thousand if it has thousands of stores. Every relation and function depends on its schema, and
/// `pg_depend` has an index by what others depend on. Parameter `$1` is the schema's name.
enum PostgreSQLCatalog {
  /// Tables, views, sequences and other rows of `pg_class`, except indexes, as `c`.
  static let relations = _members(of: "pg_class", as: "c")
  /// Rows of `pg_proc` as `p`.
  static let functions = _members(of: "pg_proc", as: "p")

  private static func _members(of catalog: String, as name: String) -> String {
    """
    (SELECT r.* FROM pg_catalog.pg_depend d JOIN pg_catalog.\(catalog) r ON r.oid = d.objid \
    WHERE d.refclassid = 'pg_catalog.pg_namespace'::regclass \
    AND d.refobjid = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = $1::text) \
    AND d.classid = 'pg_catalog.\(catalog)'::regclass) AS \(name)
    """
  }
}
