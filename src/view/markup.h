#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// `text` for HTML and SVG, between tags or in a quoted attribute: & < > " ' and control characters cannot act.
std::string escaped_markup(std::string_view text);

/// The start of a page of tables, light or dark as its reader prefers; cells of the classes "n" and "right" hold
/// numbers and what is right. `mark` is a comment near its start, where a later run looks for it before it replaces the
/// page.
std::string report_head(std::string_view title, std::string_view mark);

/// A line of HTML or SVG that is not shown.
std::string markup_comment(std::string_view text);

/// `picture`, an SVG, with such a line behind its first tag.
std::string marked_svg(std::string picture, std::string_view text);

/// The start of an SVG picture of that many pixels, on white. It ends with "</svg>".
std::string svg_head(double width, double height);

/// A path as a relative or absolute URL: everything but unreserved characters and slashes is percent-encoded.
std::string url_of_path(std::string_view path);

/// A URL that holds `bytes` themselves, so that a page needs no other file. `type`: such as "audio/wav".
std::string url_of_bytes(std::string_view type, std::string_view bytes);

/// A player of the seconds [start, end] of the audio at `url`, which loads nothing before it is started.
std::string audio_player(std::string_view url, double start, double end);

/// A player of the whole audio at `url`.
std::string audio_player(std::string_view url);

}  // namespace tutti
