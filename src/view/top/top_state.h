#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "view/table.h"
#include "view/terminal_text.h"
#include "view/top/keys.h"
#include "view/top/top_data.h"

namespace tutti {

enum class TopPanel { devices, jobs, failures, processes };
inline constexpr std::size_t kTopPanels = 4;

/// Something to be done to the run.
struct TopAction {
  enum class What { drain, resume, cancel };
  What what = What::drain;
  std::string id;      // id of a device, or of a job to cancel
  std::string name{};  // name of that, for people
};

/// The user's position in `tutti top`. Changed by keys alone.
struct TopState {
  TopPanel panel = TopPanel::devices;
  std::size_t selected = 0;  // row of the panel
  std::size_t sort = 0;      // column of the panel's choice to sort by; 0: as they come
  std::string filter{};      // rows must contain it, in any case
  bool editing_filter = false;
  bool paused = false;
  bool details = false;
  bool help = false;
  Seconds interval{1};
  std::optional<TopAction> pending{};  // waits for y or n
  std::string message{};               // an answer, until the next key
  bool quit = false;
};

/// The rows of a panel as they are shown: filtered and sorted, each with what it is of.
struct PanelRows {
  TextTable table;
  std::vector<std::string> ids{};
  std::vector<Tint> tints{};
};
PanelRows panel_rows(const TopData& data, const TopState& state);

/// What the panel can be sorted by: the first entry is the given order.
std::vector<std::string> sort_names(TopPanel panel);

/// Takes a key; answers with what is to be done to the run, if anything. Pure.
std::optional<TopAction> press(TopState& state, const Key& key, const TopData& data);

}  // namespace tutti
