#include <algorithm>

#include "base/files.h"
#include "base/toml.h"
#include "base/try.h"
#include "device/list/device_list.h"
#include "device/toml_keys.h"

namespace tutti {
namespace {

constexpr const char* kDescribed = "docs/operations.md describes devices files";

/// The name of a device: it appears in lists that commas divide, and in lines of a log and of requests.
TakeToml name_into(std::string& field) {
  return [&field](const toml::node& node) {
    const auto value = node.value_exact<std::string>();
    const auto is_odd = [](unsigned char c) { return c < 0x20 || c == 0x7f || c == ','; };
    if (!value || std::ranges::any_of(*value, is_odd) || value->starts_with(' ') || value->ends_with(' ')) return false;
    field = *value;
    return true;
  };
}

/// An entry of the file before it is put together.
struct Entry {
  std::string use{};
  std::string name{};
  int count = 1;
  EmulatedCard card{};
  bool plays = false;  // has keys that only an emulated GPU understands
  Result<void> failures{};
};

bool take_failures(Entry& entry, const toml::node& node) {
  const auto* list = node.as_array();
  if (!list) return false;
  for (const auto& item : *list) {
    auto failure = parse_failure(item.value_or(std::string{}));
    if (!failure) {
      entry.failures = tl::unexpected(failure.error());
      return true;
    }
    entry.card.failures.push_back(*failure);
  }
  return true;
}

TomlKeys keys_of(Entry& entry) {
  const auto played = [&entry](const TakeToml& take) {
    return [&entry, take](const toml::node& node) {
      entry.plays = true;
      return take(node);
    };
  };
  EmulatedCard& card = entry.card;
  return {{"use", text_into(entry.use)},
          {"name", name_into(entry.name)},
          {"count", within(1, 1024, [&entry](double value) { entry.count = static_cast<int>(value); })},
          {"jitter", played(within(0, 0.95, [&card](double value) { card.jitter = value; }))},
          {"warm-up", played(within(0, 1e6, [&card](double value) { card.warm_up = Seconds(value); }))},
          {"slots", played(within(1, 1024, [&card](double value) { card.slots = static_cast<std::int32_t>(value); }))},
          {"time", played(positive(card.time))},
          {"failures", played([&entry](const toml::node& node) { return take_failures(entry, node); })}};
}

Result<ListedDevice> listed(Entry entry, const std::string& where) {
  if (!entry.failures) return fail_in(where, entry.failures.error());
  if (entry.use.empty()) return fail(Fault::usage, where + ": expected use = \"DEVICE\", found none");
  auto spec = parse_device(entry.use);
  if (!spec) return fail_in(where, spec.error());
  const bool emulated = spec->kind == DeviceSpec::Kind::emulated;
  if (entry.plays && !emulated)
    return fail(Fault::usage,
                where + ": jitter, warm-up, slots, time and failures need an emulated card, found '" + entry.use + "'");
  if (emulated) {
    entry.card.speed = spec->card.speed;
    entry.card.memory = spec->card.memory;
    entry.card.uuid = spec->card.uuid;
    spec->card = entry.card;
  }
  return ListedDevice{.spec = std::move(*spec), .name = entry.name};
}

}  // namespace

Result<std::vector<ListedDevice>> read_device_file(const std::string& path) {
  const auto content = TRY(read_file(path));
  auto parsed = TRY(parse_toml(content, path, Fault::usage));
  double time = 1;
  const toml::array* entries = nullptr;
  const TomlKeys top{{"time", positive(time)}, {"device", [&](const toml::node& node) {
                                                  entries = node.as_array();
                                                  return entries != nullptr;
                                                }}};
  TRY(take_table(parsed, top, path, kDescribed));
  std::vector<ListedDevice> devices;
  for (std::size_t i = 0; entries && i < entries->size(); ++i) {
    const std::string where = path + ": device " + std::to_string(i + 1);
    const auto* table = (*entries)[i].as_table();
    Entry entry;
    entry.card.time = time;
    TRY(table ? take_table(*table, keys_of(entry), where, kDescribed) : Result<void>{});
    const int count = entry.count;
    auto device = TRY(listed(std::move(entry), where));
    for (int k = 0; k < count; ++k) {
      device.spec.card.seed = devices.size();  // alike, but not in step
      devices.push_back(device);
    }
  }
  if (devices.empty()) return fail(Fault::usage, path + ": expected at least one [[device]], found none");
  return devices;
}

}  // namespace tutti
