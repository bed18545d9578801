#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/strings.h"
#include "text/code_points.h"
#include "text/speech/text_parts.h"
#include "text/utf8.h"

namespace tutti {
namespace {

using Names = std::pair<std::string_view, char32_t>;

/// HTML's names of characters, but those with a diacritic, which entity_of() composes.
constexpr auto kEntities = std::to_array<Names>({
    {"amp", U'&'},         {"lt", U'<'},          {"gt", U'>'},          {"quot", U'"'},        {"apos", U'\''},
    {"nbsp", U'\u00A0'},   {"ensp", U'\u2002'},   {"emsp", U'\u2003'},   {"thinsp", U'\u2009'}, {"shy", U'\u00AD'},
    {"zwj", U'\u200D'},    {"zwnj", U'\u200C'},   {"ndash", U'\u2013'},  {"mdash", U'\u2014'},  {"minus", U'\u2212'},
    {"hellip", U'\u2026'}, {"lsquo", U'\u2018'},  {"rsquo", U'\u2019'},  {"sbquo", U'\u201A'},  {"ldquo", U'\u201C'},
    {"rdquo", U'\u201D'},  {"bdquo", U'\u201E'},  {"laquo", U'\u00AB'},  {"raquo", U'\u00BB'},  {"lsaquo", U'\u2039'},
    {"rsaquo", U'\u203A'}, {"bull", U'\u2022'},   {"middot", U'\u00B7'}, {"sdot", U'\u22C5'},   {"iexcl", U'\u00A1'},
    {"iquest", U'\u00BF'}, {"sect", U'\u00A7'},   {"para", U'\u00B6'},   {"copy", U'\u00A9'},   {"reg", U'\u00AE'},
    {"trade", U'\u2122'},  {"deg", U'\u00B0'},    {"micro", U'\u00B5'},  {"prime", U'\u2032'},  {"Prime", U'\u2033'},
    {"cent", U'\u00A2'},   {"pound", U'\u00A3'},  {"yen", U'\u00A5'},    {"euro", U'\u20AC'},   {"plusmn", U'\u00B1'},
    {"times", U'\u00D7'},  {"divide", U'\u00F7'}, {"frasl", U'\u2044'},  {"frac12", U'\u00BD'}, {"frac14", U'\u00BC'},
    {"frac34", U'\u00BE'}, {"sup1", U'\u00B9'},   {"sup2", U'\u00B2'},   {"sup3", U'\u00B3'},   {"ordf", U'\u00AA'},
    {"ordm", U'\u00BA'},   {"permil", U'\u2030'}, {"ne", U'\u2260'},     {"le", U'\u2264'},     {"ge", U'\u2265'},
    {"asymp", U'\u2248'},  {"equiv", U'\u2261'},  {"infin", U'\u221E'},  {"radic", U'\u221A'},  {"sum", U'\u2211'},
    {"prod", U'\u220F'},   {"int", U'\u222B'},    {"part", U'\u2202'},   {"not", U'\u00AC'},    {"and", U'\u2227'},
    {"or", U'\u2228'},     {"isin", U'\u2208'},   {"notin", U'\u2209'},  {"forall", U'\u2200'}, {"exist", U'\u2203'},
    {"larr", U'\u2190'},   {"rarr", U'\u2192'},   {"harr", U'\u2194'},   {"rArr", U'\u21D2'},   {"hArr", U'\u21D4'},
    {"lbrace", U'{'},      {"lbrack", U'['},      {"lpar", U'('},        {"num", U'#'},         {"percnt", U'%'},
    {"szlig", U'\u00DF'},  {"aelig", U'\u00E6'},  {"AElig", U'\u00C6'},  {"oslash", U'\u00F8'}, {"Oslash", U'\u00D8'},
    {"oelig", U'\u0153'},  {"OElig", U'\u0152'},  {"thorn", U'\u00FE'},  {"eth", U'\u00F0'},    {"alpha", U'\u03B1'},
    {"beta", U'\u03B2'},   {"gamma", U'\u03B3'},  {"delta", U'\u03B4'},  {"Delta", U'\u0394'},  {"epsilon", U'\u03B5'},
    {"theta", U'\u03B8'},  {"lambda", U'\u03BB'}, {"mu", U'\u03BC'},     {"pi", U'\u03C0'},     {"rho", U'\u03C1'},
    {"sigma", U'\u03C3'},  {"Sigma", U'\u03A3'},  {"tau", U'\u03C4'},    {"phi", U'\u03C6'},    {"omega", U'\u03C9'},
    {"Omega", U'\u03A9'},
});

constexpr auto kDiacritics = std::to_array<Names>({
    {"acute", U'\u0301'},
    {"grave", U'\u0300'},
    {"circ", U'\u0302'},
    {"uml", U'\u0308'},
    {"tilde", U'\u0303'},
    {"cedil", U'\u0327'},
    {"ring", U'\u030A'},
    {"caron", U'\u030C'},
});

/// Tags that stand apart from the text around them.
constexpr auto kBlocks = std::to_array<std::string_view>(
    {"p",      "br",    "div",        "li",    "ul",    "ol",      "dl",      "dt",         "dd",
     "h1",     "h2",    "h3",         "h4",    "h5",    "h6",      "hr",      "tr",         "td",
     "th",     "table", "thead",      "tbody", "tfoot", "caption", "section", "article",    "header",
     "footer", "nav",   "blockquote", "pre",   "main",  "aside",   "figure",  "figcaption", "form",
     "option", "title", "head",       "body",  "html",  "address", "details", "summary"});

constexpr auto kInline = std::to_array<std::string_view>(
    {"a",       "b",      "i",     "u",       "s",        "q",        "em",      "strong", "span",   "sub",    "sup",
     "small",   "big",    "code",  "tt",      "kbd",      "samp",     "var",     "mark",   "del",    "ins",    "abbr",
     "acronym", "cite",   "dfn",   "font",    "center",   "img",      "svg",     "video",  "audio",  "source", "iframe",
     "input",   "button", "label", "select",  "textarea", "link",     "meta",    "script", "style",  "wbr",    "time",
     "bdi",     "bdo",    "ruby",  "rt",      "rp",       "noscript", "picture", "canvas", "object", "strike", "nobr",
     "speak",   "voice",  "break", "prosody", "emphasis", "phoneme"});

template <class List>
bool has(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

/// An entity at the front of a text, and what it is.
struct Entity {
  std::size_t size = 0;
  std::u32string text{};
};

std::optional<std::u32string> numbered_character(std::string_view digits) {
  const bool is_hex = digits.starts_with('x') || digits.starts_with('X');
  if (is_hex) digits.remove_prefix(1);
  std::uint32_t value = 0;
  constexpr int kDecimal = 10, kHex = 16;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? kHex : kDecimal);
  constexpr std::uint32_t kLast = 0x10FFFF, kFirstSurrogate = 0xD800, kLastSurrogate = 0xDFFF;
  const bool is_whole = !digits.empty() && read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  if (!is_whole || value == 0 || value > kLast || (value >= kFirstSurrogate && value <= kLastSurrogate))
    return std::nullopt;
  return std::u32string(1, static_cast<char32_t>(value));
}

std::optional<std::u32string> named_character(std::string_view name) {
  if (const auto* found = std::ranges::find(kEntities, name, &Names::first); found != kEntities.end())
    return std::u32string(1, found->second);
  if (name.empty() || !is_ascii_alphabetic(name.front())) return std::nullopt;
  const auto* mark = std::ranges::find(kDiacritics, name.substr(1), &Names::first);
  if (mark == kDiacritics.end()) return std::nullopt;
  return nfkc(std::u32string{static_cast<char32_t>(name.front()), mark->second});
}

std::optional<Entity> entity_at(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongest = 12;
  if (at >= text.size() || text[at] != '&') return std::nullopt;
  const auto end = text.substr(0, at + kLongest).find(';', at);
  if (end == text.npos) return std::nullopt;
  const auto name = text.substr(at + 1, end - at - 1);
  auto character = name.starts_with('#') ? numbered_character(name.substr(1)) : named_character(name);
  if (!character) return std::nullopt;
  return Entity{end + 1 - at, std::move(*character)};
}

/// A tag, a comment, or another name in angle brackets.
struct Tag {
  std::size_t size = 0;
  std::string name{};     ///< in lower case; empty for a comment
  bool is_end = false;    ///< "</p>"
  bool is_known = false;  ///< one of HTML's, or written as one: "</x>", "<x/>"
};

/// The bytes up to the end of what `close` ends.
std::size_t size_until(std::string_view text, std::size_t at, std::string_view close) {
  const auto end = text.find(close, at);
  return end == text.npos ? text.size() - at : end + close.size() - at;
}

bool is_name_character(char c) {
  return is_ascii_alphabetic(c) || is_ascii_digit(c) || c == '-' || c == ':' || c == '_';
}

/// "<b>" and "<a href=x>", not "<b and c>".
bool are_attributes(std::string_view text) {
  const auto inner = trimmed(text);
  return inner.empty() || inner == "/" || (inner.find('=') != inner.npos && is_ascii_alphabetic(inner.front()));
}

std::optional<Tag> tag_at(std::string_view text, std::size_t at) {
  if (at + 1 >= text.size() || text[at] != '<') return std::nullopt;
  if (text.substr(at).starts_with("<!--")) return Tag{.size = size_until(text, at, "-->"), .is_known = true};
  constexpr std::size_t kLongest = 2000;
  const auto end = text.substr(0, std::min(text.size(), at + kLongest)).find('>', at);
  if (end == text.npos) return std::nullopt;
  auto inner = text.substr(at + 1, end - at - 1);
  Tag tag{.size = end + 1 - at};
  if (inner.starts_with('!') || inner.starts_with('?')) {  // <!DOCTYPE html>
    tag.is_known = inner.size() > 1 && is_ascii_alphabetic(inner[1]);
    return tag.is_known ? std::optional(std::move(tag)) : std::nullopt;
  }
  tag.is_end = inner.starts_with('/');
  if (tag.is_end) inner.remove_prefix(1);
  if (inner.empty() || !is_ascii_alphabetic(inner.front()) || inner.find('<') != inner.npos) return std::nullopt;
  const auto name_end = std::ranges::find_if_not(inner, is_name_character) - inner.begin();
  const auto name = inner.substr(0, static_cast<std::size_t>(name_end));
  const auto attributes = inner.substr(name.size());
  tag.name = ascii_lower(name);
  const bool is_html = (has(kBlocks, tag.name) || has(kInline, tag.name)) && are_attributes(attributes);
  tag.is_known = is_html || (tag.is_end && attributes.empty()) || attributes.ends_with('/');
  if (!tag.is_end && (tag.name == "script" || tag.name == "style"))
    tag.size = size_until(text, at, "</" + std::string(name) + ">");
  if (tag.is_known) return tag;
  // "<file>", "<bob@example.com>", but not "a<b>c", "x<y&&y>z" and "x <y and z> w"
  const bool is_apart = at == 0 || !is_name_character(text[at - 1]) || inner.size() > 1;
  const auto is_of_name = [](char c) {
    return is_name_character(c) || std::string_view(".@/,").find(c) != std::string_view::npos;
  };
  return is_apart && std::ranges::all_of(inner, is_of_name) ? std::optional(std::move(tag)) : std::nullopt;
}

/// Raised digits as Unicode has them; other characters as they are.
char32_t raised(char32_t c) {
  constexpr std::u32string_view kPlain = U"0123456789+-n", kRaisedOnes =
                                                               U"\u2070\u00B9\u00B2\u00B3\u2074\u2075\u2076\u2077"
                                                               U"\u2078\u2079\u207A\u207B\u207F";
  if (c == U'\u2212') return U'\u207B';
  const auto found = kPlain.find(c);
  return found == kPlain.npos ? c : kRaisedOnes[found];
}

/// Takes the signs of Markdown off a text at the begin of a line; how many bytes they are.
std::size_t line_sign_size(std::string_view line) {
  const auto blanks = std::min(line.find_first_not_of(" \t"), line.size());
  auto rest = line.substr(blanks);
  const auto signs = std::min(rest.find_first_not_of(rest.empty() ? ' ' : rest.front()), rest.size());
  constexpr std::size_t kDeepest = 6, kRule = 3;
  if (rest.empty() || std::string_view("#-*+>=_~").find(rest.front()) == std::string_view::npos) return 0;
  const bool is_rule = signs >= kRule && rest.front() != '#' && rest.front() != '>' &&
                       trimmed(rest.substr(0, rest.find('\n'))).size() == signs;
  if (is_rule) return blanks + signs;
  const bool is_heading = rest.front() == '#' && signs <= kDeepest;
  const bool is_item = signs == 1 && (rest.front() == '-' || rest.front() == '*' || rest.front() == '>');
  const auto behind = rest.substr(signs);
  if (!(is_heading || is_item) || !behind.starts_with(' ')) return 0;
  // "> 5" and "- 5" may be what they look like
  const auto next = behind.find_first_not_of(' ');
  const bool is_word = next != behind.npos && !is_ascii_digit(behind[next]);
  return is_heading || is_word ? blanks + signs + 1 : 0;
}

/// "[text](address)" at a "[": its text, and how many bytes all of it is.
std::optional<std::pair<std::string_view, std::size_t>> link_at(std::string_view text, std::size_t at) {
  if (text[at] != '[' || text.substr(at).starts_with("[[")) return std::nullopt;
  const auto middle = text.find("](", at), line = text.find('\n', at);
  if (middle == text.npos || middle > line) return std::nullopt;
  const auto end = text.find(')', middle);
  const auto name = text.substr(at + 1, middle - at - 1);
  if (end == text.npos || end > line || name.find_first_of("[]") != name.npos) return std::nullopt;
  return std::pair(name, end + 1 - at);
}

/// Writes a text without its markup.
class MarkupRemover {
 public:
  explicit MarkupRemover(std::string_view text) : text_(text) {}

  std::string take() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  void step() {
    if (at_ == 0 || text_[at_ - 1] == '\n') {
      if (const auto size = line_sign_size(text_.substr(at_)); size > 0) {
        at_ += size;
        return;
      }
    }
    if (text_.substr(at_).starts_with("[[")) return copy_ipa();
    if (const auto entity = entity_at(text_, at_)) {
      for (const char32_t c : entity->text) add(c);
      at_ += entity->size;
    } else if (const auto tag = tag_at(text_, at_)) {
      take_tag(*tag);
    } else if (text_.substr(at_).starts_with("~~")) {
      at_ += 2;
    } else if (const auto link = link_at(text_, at_)) {
      if (out_.ends_with('!')) out_.pop_back();  // a picture
      out_ += without_markup(link->first);
      at_ += link->second;
    } else {
      const auto c = code_point_at(text_, at_);
      if (is_raised_ && c.valid)
        add(c.value);
      else
        out_ += text_.substr(at_, c.size);
      at_ += c.size;
    }
  }

  void add(char32_t c) { append_utf8(out_, is_raised_ ? raised(c) : c); }

  void copy_ipa() {
    const auto size = size_until(text_, at_, "]]");
    out_ += text_.substr(at_, size);
    at_ += size;
  }

  void take_tag(const Tag& tag) {
    if (!tag.is_known) out_ += "(" + std::string(text_.substr(at_ + 1, tag.size - 2)) + ")";
    if (tag.name == "sup") is_raised_ = !tag.is_end;
    if (has(kBlocks, tag.name)) out_ += " \u2014 ";
    at_ += tag.size;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_raised_ = false;
  std::string out_{};
};

}  // namespace

std::size_t markup_size(std::string_view text, std::size_t at) {
  if (const auto entity = entity_at(text, at)) return entity->size;
  const auto tag = tag_at(text, at);
  return tag ? tag->size : 0;
}

std::string without_markup(std::string_view text) {
  return MarkupRemover(text).take();
}

}  // namespace tutti
