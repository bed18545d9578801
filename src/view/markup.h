#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// `text` for HTML and SVG, between tags or in a quoted attribute: & < > " ' and control characters cannot act.
std::string escaped_markup(std::string_view text);

/// The start of an SVG of that size in pixels: white ground, text of 13 pixels. "</svg>" ends it.
std::string svg_head(int width, int height);

/// A path as a relative or absolute URL: everything but unreserved characters and slashes is percent-encoded.
std::string url_of_path(std::string_view path);

/// A player of the seconds [start, end] of what lies at `url`, which loads nothing before it is asked to.
std::string audio_player(std::string_view url, double start, double end);

}  // namespace tutti
