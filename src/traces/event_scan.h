#pragma once

#include <cstddef>
#include <span>

namespace tutti {

/// Where whole events of a trace end, by bytes of the text that was scanned. Plain data.
///
/// None of it where the text ends within the first event: then more of it has to be read, or it is cut off.
struct EventScan {
  std::size_t end = 0;    ///< behind the last whole event; where the events end, the bracket behind it. 0: none
  bool is_last = false;   ///< `end` is the bracket that ends the events
  bool is_brace = false;  ///< and it is '}', where ']' was expected
};

/// Finds the last whole event of `text`, which begins where an event may. `is_whole`: nothing follows.
///
/// PyTorch's profiler writes names of Python code as they are. So a quote ends a text only where the rest of an event
/// can follow, and any other becomes an apostrophe in `text`. A backslash before a text's last quote becomes a slash.
/// Nothing else changes, and no byte moves. Safe from any thread, each with its own text.
///
/// The rest of an event can follow where the closing brackets of all that is open follow, and behind them another event
/// or the end of the events; or a comma, a member's name, its colon, and a value behind which the same holds. Of a text
/// in a list it is a comma and another value. A text that can be read in two ways ends at the first such quote.
EventScan scan_events(std::span<char> text, bool is_whole);

/// Puts '?' for each byte that is no UTF-8, and a space for each control character. A name is all that has them in a
/// trace, and between values spaces mean the same.
void clean_bytes(std::span<char> text);

}  // namespace tutti
