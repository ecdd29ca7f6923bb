/// The functions of a store's schema, which give predicates the same meaning as in memory.
///
/// All are SQL functions without side effects. None has an exception block, so that queries can run in
/// parallel. A role needs USAGE on the schema and EXECUTE on the functions.
enum PostgreSQLFunctions {
  /// Version of this set, kept in the metadata: opening a store with an older set upgrades it.
  static let version = 5

  /// Returns statements that create the functions or replace those of an older set.
  static func statements(schema: String, _ rules: PostgreSQLCaseRules) -> [String] {
    let s = PostgreSQLNames.quoted(schema)
    return _folding(s, rules) + _texts(s, rules) + _whole(s) + _floating(s)
  }

  private static let _start = "CREATE OR REPLACE FUNCTION "

  /// Names of the functions, one for each overload.
  static var names: [String] {
    statements(schema: "", .icu).map { statement in
      String(statement.dropFirst(_start.count + "\"\".".count).prefix { $0 != "(" })
    }
  }

  private static func _function(
    _ name: String, _ arguments: String, _ result: String, _ body: String, isStrict: Bool = true,
    volatility: String = "IMMUTABLE"
  ) -> String {
    """
    \(_start)\(name)(\(arguments)) RETURNS \(result) LANGUAGE sql \(volatility)\
    \(isStrict ? " STRICT" : "") PARALLEL SAFE AS \(PostgreSQLNames.body(" SELECT \(body) "))
    """
  }

  // MARK: Folding

  private static let _marks = CombiningMarks.bracketed(PostgreSQLCaseRules.escape)

  /// The combining marks for a bracket expression, escaped for a Unicode literal.
  static var marks: String { _marks }

  private static func _folding(_ s: String, _ rules: PostgreSQLCaseRules) -> [String] {
    let hangul = "U&'[\\AC00-\\D7A3]'"
    let runs = "U&'[\\AC00-\\D7A3]+|[^\\AC00-\\D7A3]+'"
    func pieces(_ function: String) -> String {
      """
      pg_catalog.string_agg(CASE WHEN p[1] ~ U&'^[\\AC00-\\D7A3]' THEN p[1] ELSE \(s).\(function)(p[1]) END, '' ORDER BY n) \
      COLLATE "C" FROM pg_catalog.regexp_matches(t, \(runs), 'g') WITH ORDINALITY m(p, n)
      """
    }
    return [
      _function(
        "\(s).fold_c_slow", "t text", "text",
        "pg_catalog.lower(normalize(\(rules.folded), NFD) COLLATE \"C\") COLLATE \"C\""),
      _function(
        "\(s).fold_d_slow", "t text", "text",
        "pg_catalog.regexp_replace(normalize(t, NFD), U&'[\(_marks)]+', '', 'g') COLLATE \"C\""),
      _function("\(s).fold_c_han", "t text", "text", pieces("fold_c_slow")),
      _function("\(s).fold_d_han", "t text", "text", pieces("fold_d_slow")),
      _function(
        "\(s).fold_cd_slow", "t text", "text",
        "pg_catalog.lower(\(s).fold_d_slow(\(s).fold_c_slow(t)) COLLATE \"C\") COLLATE \"C\""),
      _function("\(s).fold_cd_han", "t text", "text", pieces("fold_cd_slow")),
      _function(
        "\(s).fold_c", "t text", "text",
        """
        CASE WHEN pg_catalog.octet_length(t) = pg_catalog.length(t) THEN pg_catalog.lower(t COLLATE "C") WHEN t ~ \(hangul) THEN \(s).fold_c_han(t) \
        ELSE \(s).fold_c_slow(t) END COLLATE "C"
        """),
      _function(
        "\(s).fold_d", "t text", "text",
        """
        CASE WHEN pg_catalog.octet_length(t) = pg_catalog.length(t) THEN t WHEN t ~ \(hangul) THEN \(s).fold_d_han(t) \
        ELSE \(s).fold_d_slow(t) END COLLATE "C"
        """),
      _function(
        "\(s).fold_cd", "t text", "text",
        """
        CASE WHEN pg_catalog.octet_length(t) = pg_catalog.length(t) THEN pg_catalog.lower(t COLLATE "C") WHEN t ~ \(hangul) THEN \(s).fold_cd_han(t) \
        ELSE \(s).fold_cd_slow(t) END COLLATE "C"
        """),
      // Whether a folded text contains a part, at a place where no combining mark follows the part's last
      // letter.
      _function(
        "\(s).contains_c", "t text, part text", "boolean",
        """
        CASE WHEN pg_catalog.octet_length(t) = pg_catalog.length(t) OR part = '' THEN pg_catalog.strpos(t, part) > 0 ELSE \
        t ~ (pg_catalog.regexp_replace(part, '([][\\\\.*+?^$(){}|])', '\\\\\\1', 'g') || U&'(?![\(_marks)])') END
        """),
      _function(
        "\(s).begins_c", "t text, part text", "boolean",
        """
        pg_catalog.starts_with(t, part) AND (pg_catalog.octet_length(t) = pg_catalog.length(t) OR part = '' \
        OR pg_catalog.substr(t, pg_catalog.length(part) + 1, 1) !~ U&'[\(_marks)]')
        """),
      // The smallest text greater than all texts with a prefix: increments the last scalar that can be
      // incremented. There is none for a prefix of U+10FFFF only; then returns a text greater than any stored
      // one.
      _function(
        "\(s).after_prefix", "part text", "text",
        """
        (SELECT CASE WHEN p = '' THEN pg_catalog.repeat(U&'\\+10FFFF', 1000) ELSE pg_catalog.left(p, -1) || pg_catalog.chr(CASE pg_catalog.ascii(pg_catalog.right(p, 1)) \
        WHEN 55295 THEN 57344 ELSE pg_catalog.ascii(pg_catalog.right(p, 1)) + 1 END) END FROM pg_catalog.rtrim(part, U&'\\+10FFFF') AS r(p)) COLLATE "C"
        """),
      // A LIKE pattern for texts that contain a part.
      _function(
        "\(s).like_anywhere", "part text", "text",
        "'%' || pg_catalog.regexp_replace(part, '([%_\\\\])', '\\\\\\1', 'g') || '%' COLLATE \"C\""),
    ]
  }

  // MARK: Texts

  private static func _texts(_ s: String, _ rules: PostgreSQLCaseRules) -> [String] {
    [
      _function(
        "\(s).utf16_length", "t text", "bigint",
        "(pg_catalog.length(t) + pg_catalog.length(pg_catalog.regexp_replace(t, U&'[^\\+010000-\\+10FFFF]', '', 'g')))::int8"
      ),
      _function("\(s).matches", "t text, pattern text", "boolean", "\(rules.spelled) ~ pattern"),
      _function("\(s).matches_c", "t text, pattern text", "boolean", "\(rules.spelled) ~* pattern"),
      _function("\(s).upper_case", "t text", "text", "\(rules.uppercased) COLLATE \"C\""),
      _function("\(s).lower_case", "t text", "text", "\(rules.lowercased) COLLATE \"C\""),
      _function("\(s).number_text", "n bigint", "text", "n::text COLLATE \"C\""),
      _function("\(s).number_text", "n double precision", "text", "n::text COLLATE \"C\""),
      _function("\(s).number_text", "n numeric", "text", "pg_catalog.trim_scale(n)::text COLLATE \"C\""),
      // NULL for text that is not a number; a cast would fail the whole statement.
      _function(
        "\(s).text_number", "t text", "double precision",
        "CASE WHEN t ~ '^\\s*[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,3})?\\s*$' THEN "
          + "CASE WHEN pg_catalog.abs(t::numeric) > 1.7976931348623157e308 THEN 'Infinity'::float8 * pg_catalog.sign(t::numeric)::float8 "
          + "ELSE t::numeric::float8 END END"),
    ]
  }

  // MARK: Whole numbers

  private static func _whole(_ s: String) -> [String] {
    func two(_ name: String, _ body: String) -> String {
      _function("\(s).\(name)", "a bigint, b bigint", "numeric", body)
    }
    func exact(_ name: String, _ symbol: String) -> String {
      _function("\(s).\(name)", "a numeric, b numeric", "numeric", "a \(symbol) b")
    }
    return [
      two("add", "a::numeric + b"), two("sub", "a::numeric - b"), two("mul", "a::numeric * b"),
      two("div", "CASE WHEN b = 0 THEN NULL WHEN b = -1 THEN -(a::numeric) ELSE (a / b)::numeric END"),
      two("mod", "CASE WHEN b = 0 THEN NULL ELSE (a % b)::numeric END"),
      exact("add", "+"), exact("sub", "-"), exact("mul", "*"),
      _function(
        "\(s).div", "a numeric, b numeric", "numeric", "CASE WHEN b = 0 THEN NULL ELSE a / b END"),
      _function(
        "\(s).mod", "a numeric, b numeric", "numeric", "CASE WHEN b = 0 THEN NULL ELSE a % b END"),
      _function("\(s).band", "a bigint, b bigint", "bigint", "a & b"),
      _function("\(s).bor", "a bigint, b bigint", "bigint", "a | b"),
      _function("\(s).bxor", "a bigint, b bigint", "bigint", "a # b"),
      _function("\(s).bnot", "a bigint", "bigint", "~a"),
      _function(
        "\(s).whole", "a numeric", "bigint",
        "CASE WHEN a >= -9223372036854775808 AND a < 9223372036854775808 THEN pg_catalog.trunc(a)::int8 END"),
      _function(
        "\(s).shl", "a bigint, b bigint", "bigint",
        "CASE WHEN b <= -64 THEN CASE WHEN a < 0 THEN -1 ELSE 0 END WHEN b < 0 THEN a >> (-b)::int4 "
          + "WHEN b >= 64 THEN 0 ELSE a << b::int4 END"),
      _function(
        "\(s).shr", "a bigint, b bigint", "bigint",
        "CASE WHEN b <= -64 THEN 0 WHEN b < 0 THEN a << (-b)::int4 "
          + "WHEN b >= 64 THEN CASE WHEN a < 0 THEN -1 ELSE 0 END ELSE a >> b::int4 END"),
    ]
      + ["band", "bor", "bxor", "shl", "shr"].map { name in
        _function(
          "\(s).\(name)", "a numeric, b numeric", "bigint",
          "\(s).\(name)(\(s).whole(a), \(s).whole(b))")
      }
      // Overloads for shorter integers: without them, the server prefers the floating-point candidate.
      + ["add", "sub", "mul", "div", "mod"].flatMap { name in
        [("smallint", "smallint"), ("smallint", "integer"), ("integer", "smallint"), ("integer", "integer")]
          .map { left, right in
            _function(
              "\(s).\(name)", "a \(left), b \(right)", "numeric", "\(s).\(name)(a::int8, b::int8)")
          }
      }
      + ["band", "bor", "bxor", "shl", "shr"].map { name in
        _function(
          "\(s).\(name)", "a double precision, b double precision", "bigint",
          "\(s).\(name)(\(s).whole(a::text::numeric), \(s).whole(b::text::numeric))")
      } + [
        _function(
          "\(s).bnot", "a double precision", "bigint", "~\(s).whole(a::text::numeric)"),
        _function("\(s).bnot", "a numeric", "bigint", "~\(s).whole(a)"),
        _function("\(s).absolute", "a bigint", "numeric", "pg_catalog.abs(a::numeric)"),
        _function("\(s).absolute", "a numeric", "numeric", "pg_catalog.abs(a)"),
        _function("\(s).absolute", "a double precision", "double precision", "pg_catalog.abs(a)"),
      ]
  }

  // MARK: Floating point

  private static func _floating(_ s: String) -> [String] {
    func two(_ name: String, _ body: String) -> String {
      _function("\(s).\(name)", "a double precision, b double precision", "double precision", body)
    }
    func one(_ name: String, _ body: String) -> String {
      _function("\(s).\(name)", "a double precision", "double precision", body)
    }
    let special = "('Infinity'::float8, '-Infinity'::float8, 'NaN'::float8)"
    let most = "1.7976931348623157e308::float8"
    let sign = "(CASE WHEN (a < 0) = (b < 0) THEN 'Infinity'::float8 ELSE '-Infinity'::float8 END)"
    return [
      two(
        "add",
        "CASE WHEN a IN \(special) OR b IN \(special) THEN a + b "
          + "WHEN a > 0 AND b > \(most) - a THEN 'Infinity'::float8 "
          + "WHEN a < 0 AND b < -\(most) - a THEN '-Infinity'::float8 ELSE a + b END"),
      two(
        "sub",
        "CASE WHEN a IN \(special) OR b IN \(special) THEN a - b "
          + "WHEN a > 0 AND b < a - \(most) THEN 'Infinity'::float8 "
          + "WHEN a < 0 AND b > a + \(most) THEN '-Infinity'::float8 ELSE a - b END"),
      two(
        "mul",
        "CASE WHEN a IN \(special) OR b IN \(special) THEN a * b "
          + "WHEN pg_catalog.abs(a) > 1 AND pg_catalog.abs(b) > \(most) / pg_catalog.abs(a) THEN \(sign) "
          + "WHEN a <> 0 AND b <> 0 AND pg_catalog.abs(a) < 1 AND pg_catalog.abs(b) < 1 AND pg_catalog.log(pg_catalog.abs(a)) + pg_catalog.log(pg_catalog.abs(b)) < -323 THEN 0 "
          + "ELSE a * b END"),
      // NaN becomes NULL, as on SQLite: the server treats NaN as greater than every number, whereas in memory
      // no comparison with it holds.
      two(
        "div",
        "CASE WHEN b = 0 THEN CASE WHEN a = 0 OR a = 'NaN' THEN NULL WHEN a > 0 THEN 'Infinity'::float8 "
          + "ELSE '-Infinity'::float8 END WHEN a IN \(special) OR b IN \(special) THEN a / b "
          + "WHEN pg_catalog.abs(b) < 1 AND pg_catalog.abs(a) > pg_catalog.abs(b) * \(most) THEN \(sign) "
          + "WHEN a <> 0 AND pg_catalog.log(pg_catalog.abs(a)) - pg_catalog.log(pg_catalog.abs(b)) < -323 THEN 0 ELSE a / b END"
      ),
      two(
        "mod",
        "CASE WHEN b = 0 OR a IN \(special) OR b = 'NaN' THEN NULL WHEN b IN \(special) THEN a "
          + "ELSE ((a::text::numeric) % (b::text::numeric))::float8 END"),
      one("square_root", "CASE WHEN a < 0 THEN NULL ELSE pg_catalog.sqrt(a) END"),
      one(
        "natural_log",
        "CASE WHEN a < 0 THEN NULL WHEN a = 0 THEN '-Infinity'::float8 ELSE pg_catalog.ln(a) END"),
      one(
        "decimal_log",
        "CASE WHEN a < 0 THEN NULL WHEN a = 0 THEN '-Infinity'::float8 ELSE pg_catalog.log(a) END"),
      one(
        "exponential",
        "CASE WHEN a IN \(special) THEN CASE WHEN a = '-Infinity' THEN 0 ELSE a END "
          + "WHEN a >= 709.782712893384 THEN 'Infinity'::float8 WHEN a < -745.2 THEN 0 ELSE pg_catalog.exp(a) END"
      ),
      two(
        "raised",
        "CASE WHEN b = 0 THEN 1 WHEN a = 1 THEN 1 WHEN a = 'NaN' OR b = 'NaN' THEN NULL "
          + "WHEN a = 0 AND b < 0 THEN 'Infinity'::float8 WHEN a = 0 THEN 0 "
          + "WHEN a < 0 AND a NOT IN \(special) AND b NOT IN \(special) AND b <> pg_catalog.trunc(b) THEN NULL "
          + "WHEN a IN \(special) OR b IN \(special) THEN pg_catalog.power(a, b) "
          + "WHEN b * pg_catalog.log(pg_catalog.abs(a)) >= 308.2547155599167 THEN CASE WHEN a < 0 AND b / 2 <> pg_catalog.trunc(b / 2) THEN '-Infinity'::float8 "
          + "ELSE 'Infinity'::float8 END WHEN b * pg_catalog.log(pg_catalog.abs(a)) < -323 THEN 0 ELSE pg_catalog.power(a, b) END"
      ),
      one("rounded_down", "pg_catalog.floor(a)"), one("rounded_up", "pg_catalog.ceil(a)"),
      one("truncated", "pg_catalog.trunc(a)"),
      _function(
        "\(s).random_whole", "", "bigint", "pg_catalog.floor(pg_catalog.random() * 2147483648)::int8",
        volatility: "VOLATILE"),
      _function(
        "\(s).random_below", "n bigint", "bigint",
        "CASE WHEN n <= 0 THEN NULL ELSE pg_catalog.floor(pg_catalog.random() * n)::int8 END",
        volatility: "VOLATILE"),
    ]
  }
}
