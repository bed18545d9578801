#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tutti {

struct TableColumn {
  std::string title;
  bool right = false;    // numbers stand at the right
  int rank = 0;          // where the width does not suffice, the highest rank goes first; 0 stays
  bool stretch = false;  // is cut to what the others leave; several share that
};

struct TextTable {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows{};  // a cell per column
};

/// Takes the columns out whose cells are all the same, but for the first column, where there are two rows or more:
/// "ring-depth 3, network 20.1 MB", for a line of their own. Empty: none. Pure.
std::string take_constant_columns(TextTable& table);

/// A heading and a line per row, two spaces between columns, none longer than `width` columns. Columns are as wide as
/// their longest cell. Pure.
std::vector<std::string> lay_out(const TextTable& table, std::size_t width);

}  // namespace tutti
