#pragma once

namespace tutti {

/// Whether the environment's locale, as the C library would take it, is of UTF-8; true where none is set.
bool is_utf8_locale();

/// Whether colours are wanted: not with NO_COLOR (no-color.org), not on a dumb terminal.
bool wants_colour();

}  // namespace tutti
