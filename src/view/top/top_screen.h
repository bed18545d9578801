#pragma once

#include <string>
#include <vector>

#include "view/terminal_text.h"
#include "view/top/top_state.h"

namespace tutti {

/// The whole screen of `tutti top`: exactly `lines` lines of exactly `columns` columns. Pure.
std::vector<std::string> render_top(const TopData& data, const TopState& state, const Screen& screen);

/// What `tutti top --once` prints: everything there is, one part below the other, as long as it takes.
std::vector<std::string> top_report(const TopData& data, const Screen& screen);

/// What turns a terminal that shows `before` into one that shows `now`: only lines that differ are sent. An empty
/// `before` clears it first.
std::string repaint(const std::vector<std::string>& before, const std::vector<std::string>& now);

}  // namespace tutti
