#include "view/top/top_state.h"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

constexpr std::size_t kPage = 10;
constexpr Seconds kShortest{0.25}, kLongest{16};

void type_filter(TopState& state, const Key& key) {
  switch (key.name) {
    case Key::Name::text: state.filter += key.text; break;
    case Key::Name::backspace:
      while (!state.filter.empty() && (static_cast<unsigned char>(state.filter.back()) & 0xc0U) == 0x80U)
        state.filter.pop_back();
      if (!state.filter.empty()) state.filter.pop_back();
      break;
    case Key::Name::escape: state.filter.clear(); [[fallthrough]];
    case Key::Name::enter: state.editing_filter = false; break;
    default: break;
  }
  state.selected = 0;
}

std::optional<TopAction> answer(TopState& state, const Key& key) {
  const auto pending = std::exchange(state.pending, std::nullopt);
  if (key.is('y') || key.is('Y')) return pending;
  state.message = "nothing was cancelled";
  return std::nullopt;
}

void change_panel(TopState& state, std::size_t by) {
  state.panel = static_cast<TopPanel>((static_cast<std::size_t>(state.panel) + by) % kTopPanels);
  state.selected = 0;
  state.sort = 0;
}

bool move_selection(TopState& state, const Key& key, std::size_t rows) {
  const std::size_t last = rows == 0 ? 0 : rows - 1;
  const auto up = [&](std::size_t by) { state.selected -= std::min(state.selected, by); };
  const auto down = [&](std::size_t by) { state.selected = std::min(last, state.selected + by); };
  if (key.name == Key::Name::up || key.is('k'))
    up(1);
  else if (key.name == Key::Name::down || key.is('j'))
    down(1);
  else if (key.name == Key::Name::page_up)
    up(kPage);
  else if (key.name == Key::Name::page_down)
    down(kPage);
  else if (key.name == Key::Name::home || key.is('g'))
    state.selected = 0;
  else if (key.name == Key::Name::end || key.is('G'))
    state.selected = last;
  else
    return false;
  return true;
}

/// Keys that change how it is shown.
bool change_view(TopState& state, const Key& key) {
  if (key.is('q'))
    state.quit = true;
  else if (key.is('?') || key.is('h'))
    state.help = !state.help;
  else if (key.name == Key::Name::tab)
    change_panel(state, 1);
  else if (key.name == Key::Name::back_tab)
    change_panel(state, kTopPanels - 1);
  else if (key.name == Key::Name::enter)
    state.details = !state.details;
  else if (key.is('s'))
    state.sort = (state.sort + 1) % sort_names(state.panel).size();
  else if (key.is('/'))
    state.editing_filter = true;
  else if (key.is(' '))
    state.paused = !state.paused;
  else if (key.is('+'))
    state.interval = std::max(kShortest, state.interval / 2);
  else if (key.is('-'))
    state.interval = std::min(kLongest, state.interval * 2);
  else if (key.name == Key::Name::escape) {
    state.details = false;
    state.filter.clear();
  } else
    return false;
  return true;
}

/// d, r and x.
std::optional<TopAction> act(TopState& state, const Key& key, const TopData& data, const PanelRows& rows) {
  const bool on_device = key.is('d') || key.is('r');
  if (!on_device && !key.is('x')) return std::nullopt;
  const TopPanel wanted = on_device ? TopPanel::devices : TopPanel::jobs;
  if (!data.run) {
    state.message = "no batch is running here: there is nothing to drain or cancel";
  } else if (state.panel != wanted || state.selected >= rows.ids.size()) {
    state.message = on_device ? "drain and resume are for devices: go there with Tab"
                              : "cancelling is for tasks: go there with Tab";
  } else if (on_device) {
    const auto& device = rows.ids[state.selected];
    return TopAction{key.is('d') ? TopAction::What::drain : TopAction::What::resume, device, device};
  } else {
    state.pending =
        TopAction{TopAction::What::cancel, rows.ids[state.selected], rows.table.rows[state.selected].front()};
  }
  return std::nullopt;
}

}  // namespace

std::optional<TopAction> press(TopState& state, const Key& key, const TopData& data) {
  state.message.clear();
  if (state.pending) return answer(state, key);
  if (state.editing_filter) {
    type_filter(state, key);
    return std::nullopt;
  }
  if (state.help && !key.is('q')) {
    state.help = false;
    return std::nullopt;
  }
  const PanelRows rows = panel_rows(data, state);
  if (move_selection(state, key, rows.ids.size()) || change_view(state, key)) return std::nullopt;
  return act(state, key, data, rows);
}

}  // namespace tutti
