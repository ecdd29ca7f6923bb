/// The uniform types that Apple's systems declare, for `UTI-CONFORMS-TO`.
///
/// There is no registry on this platform. A type that is not in the table, such as one that a program
/// declares, conforms to itself only.
enum UniformTypes {
  /// Whether a type is the other one, or one of its subtypes. Identifiers are compared regardless of case.
  static func conforms(_ type: String, to supertype: String) -> Bool {
    let wanted = supertype.lowercased()
    var open = [type.lowercased()]
    // The table has no cycle.
    while let next = open.popLast() {
      if next == wanted { return true }
      open += _supertypes[next] ?? []
    }
    return false
  }

  private static let _supertypes: [String: [String]] = {
    var table: [String: [String]] = [:]
    for line in _declarations.split(separator: "\n") {
      let parts = line.split { ":, ".contains($0) }.map(String.init)
      table[parts[0]] = Array(parts.dropFirst())
    }
    return table
  }()

  /// Each type with the types to which it conforms directly, as Apple's documentation lists them.
  private static let _declarations = """
    public.composite-content: public.content
    public.data: public.item
    public.directory: public.item
    public.folder: public.directory
    public.volume: public.folder
    com.apple.package: public.directory
    com.apple.bundle: public.directory
    public.symlink: public.item, com.apple.resolvable
    com.apple.alias-file: public.data, com.apple.resolvable
    public.executable: public.item
    com.apple.application: public.executable
    com.apple.application-bundle: com.apple.application, com.apple.bundle, com.apple.package
    com.apple.framework: com.apple.bundle
    com.apple.plugin: com.apple.bundle, com.apple.package
    public.url: public.data
    public.file-url: public.url
    public.text: public.data, public.content
    public.plain-text: public.text
    public.utf8-plain-text: public.plain-text
    public.utf16-plain-text: public.plain-text
    public.utf16-external-plain-text: public.plain-text
    public.delimited-values-text: public.text
    public.comma-separated-values-text: public.delimited-values-text
    public.tab-separated-values-text: public.delimited-values-text
    public.utf8-tab-separated-values-text: public.tab-separated-values-text, public.utf8-plain-text
    public.rtf: public.text
    public.html: public.text
    public.xml: public.text
    public.json: public.text
    public.yaml: public.text
    public.css: public.text
    public.log: public.plain-text
    public.vcard: public.text, public.contact
    com.apple.ical.ics: public.text, public.calendar-event
    public.email-message: public.data, public.message
    public.source-code: public.plain-text
    public.swift-source: public.source-code
    public.c-source: public.source-code
    public.c-header: public.source-code
    public.objective-c-source: public.source-code
    public.c-plus-plus-source: public.source-code
    public.script: public.source-code
    public.shell-script: public.script
    public.python-script: public.shell-script
    public.ruby-script: public.shell-script
    public.perl-script: public.shell-script
    public.php-script: public.shell-script
    com.netscape.javascript-source: public.source-code, public.executable
    com.apple.property-list: public.data
    com.apple.xml-property-list: public.xml, com.apple.property-list
    com.apple.binary-property-list: com.apple.property-list
    com.adobe.pdf: public.data, public.composite-content
    com.apple.rtfd: com.apple.package, public.composite-content
    com.apple.flat-rtfd: public.data, public.composite-content
    com.apple.webarchive: public.data, public.composite-content
    org.idpf.epub-container: public.data, public.composite-content
    public.image: public.data, public.content
    public.jpeg: public.image
    public.tiff: public.image
    public.png: public.image
    public.heif-standard: public.image
    public.heif: public.heif-standard
    public.heic: public.heif-standard
    public.svg-image: public.image
    public.camera-raw-image: public.image
    com.compuserve.gif: public.image
    com.apple.icns: public.image
    com.microsoft.bmp: public.image
    com.microsoft.ico: public.image
    org.webmproject.webp: public.image
    public.audiovisual-content: public.data, public.content
    public.movie: public.audiovisual-content
    public.video: public.movie
    public.audio: public.audiovisual-content
    com.apple.quicktime-movie: public.movie
    public.mpeg: public.movie
    public.mpeg-2-video: public.video
    public.mpeg-2-transport-stream: public.movie
    public.mpeg-4: public.movie
    public.avi: public.movie
    public.mp3: public.audio
    public.mpeg-4-audio: public.mpeg-4, public.audio
    com.apple.m4a-audio: public.mpeg-4-audio
    com.apple.protected-mpeg-4-audio: public.audio
    com.apple.protected-mpeg-4-video: public.movie
    public.aiff-audio: public.audio
    com.microsoft.waveform-audio: public.audio
    public.midi-audio: public.audio
    public.m3u-playlist: public.text, public.playlist
    public.3d-content: public.content
    com.pixar.universal-scene-description: public.3d-content, public.data
    public.zip-archive: public.data, public.archive
    org.gnu.gnu-zip-archive: public.data, public.archive
    public.bzip2-archive: public.data, public.archive
    public.tar-archive: public.data, public.archive
    public.disk-image: public.archive
    com.apple.disk-image: public.disk-image
    public.spreadsheet: public.content
    public.presentation: public.composite-content
    com.microsoft.word.doc: public.data
    com.microsoft.excel.xls: public.data, public.spreadsheet
    com.microsoft.powerpoint.ppt: public.data, public.presentation
    org.openxmlformats.wordprocessingml.document: public.data, public.composite-content
    org.openxmlformats.spreadsheetml.sheet: public.data, public.spreadsheet
    org.openxmlformats.presentationml.presentation: public.data, public.presentation
    public.x509-certificate: public.data
    com.rsa.pkcs-12: public.data
    """
}
