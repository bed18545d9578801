#include "view/table.h"

#include <algorithm>
#include <numeric>

#include "view/text.h"

namespace tutti {
namespace {

constexpr std::size_t kBetween = 2;
constexpr std::size_t kLeastStretch = 8;

std::vector<std::size_t> natural_widths(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = columns_of(table.columns[c].title);
    for (const auto& row : table.rows) width = std::max(width, columns_of(row[c]));
    widths.push_back(width);
  }
  return widths;
}

/// What a set of columns takes at least.
std::size_t least_width(const TextTable& table, const std::vector<std::size_t>& widths,
                        const std::vector<std::size_t>& shown) {
  std::size_t sum = shown.empty() ? 0 : kBetween * (shown.size() - 1);
  for (const std::size_t c : shown) sum += table.columns[c].stretch ? std::min(widths[c], kLeastStretch) : widths[c];
  return sum;
}

/// Leaves columns out until the rest fits.
std::vector<std::size_t> shown_columns(const TextTable& table, const std::vector<std::size_t>& widths,
                                       std::size_t width) {
  std::vector<std::size_t> shown(table.columns.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  while (least_width(table, widths, shown) > width) {
    const auto last = std::max_element(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
      return table.columns[a].rank < table.columns[b].rank;
    });
    if (last == shown.end() || table.columns[*last].rank == 0) break;
    shown.erase(last);
  }
  return shown;
}

/// Gives the columns that stretch what is left of the width, none of them more than it can use: those that want least
/// first, so that a long reason does not cut short names.
void stretch(const TextTable& table, std::vector<std::size_t> shown, std::size_t width,
             std::vector<std::size_t>& widths) {
  const std::size_t least = least_width(table, widths, shown);
  std::size_t spare = width > least ? width - least : 0;
  std::erase_if(shown, [&](std::size_t c) { return !table.columns[c].stretch; });
  std::ranges::sort(shown, {}, [&](std::size_t c) { return widths[c]; });
  for (std::size_t i = 0; i < shown.size(); ++i) {
    std::size_t& mine = widths[shown[i]];
    const std::size_t at_least = std::min(mine, kLeastStretch);
    const std::size_t more = std::min(mine - at_least, spare / (shown.size() - i));
    mine = at_least + more;
    spare -= more;
  }
}

std::string aligned(const std::string& text, std::size_t width, bool right) {
  const std::size_t have = columns_of(text);
  if (!right || have >= width) return fitted(text, width);
  return std::string(width - have, ' ') + text;
}

}  // namespace

std::string take_constant_columns(TextTable& table) {
  std::string text;
  if (table.rows.size() < 2) return text;
  for (std::size_t c = table.columns.size(); c-- > 1;) {
    const std::string& first = table.rows.front()[c];
    if (!std::ranges::all_of(table.rows, [&](const auto& row) { return row[c] == first; })) continue;
    text = table.columns[c].title + " " + first + (text.empty() ? "" : ", " + text);
    const auto at = static_cast<std::ptrdiff_t>(c);
    table.columns.erase(table.columns.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
  return text;
}

std::vector<std::string> lay_out(const TextTable& table, std::size_t width) {
  auto widths = natural_widths(table);
  const auto shown = shown_columns(table, widths, width);
  stretch(table, shown, width, widths);
  const auto line_of = [&](const auto& cell_of) {
    std::string line;
    for (const std::size_t c : shown)
      line += (line.empty() ? "" : "  ") + aligned(cell_of(c), widths[c], table.columns[c].right);
    return columns_of(line) > width ? fitted(line, width) : line;
  };
  std::vector<std::string> lines{line_of([&](std::size_t c) { return table.columns[c].title; })};
  for (const auto& row : table.rows) lines.push_back(line_of([&](std::size_t c) { return row[c]; }));
  return lines;
}

}  // namespace tutti
