/// The script of all pages. Without it, pages do not follow the store and key paths are not completed; all else works.
enum PageScript {
  static let text = """
    "use strict";

    """
}
