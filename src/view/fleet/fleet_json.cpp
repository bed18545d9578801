
#include "base/json.h"
#include "view/fleet/fleet_status.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

// One list of fields for both directions: `visit` is called with the name and the member.

template <class Status, class Visit>
void device_fields(Status& d, Visit&& visit) {
  visit("id", d.id);
  visit("name", d.name);
  visit("uuid", d.uuid);
  visit("state", d.state);
  visit("reason", d.reason);
  visit("in_state_seconds", d.since);
  visit("tasks", d.jobs);
  visit("most_tasks", d.most_jobs);
  visit("windows", d.windows);
  visit("most_windows", d.most_windows);
  visit("memory_limit", d.memory_limit);
  visit("load_ratio", d.load);
  visit("own_load_ratio", d.own_load);
  visit("foreign_load_ratio", d.foreign_load);
  visit("own_memory_bytes", d.own_memory);
  visit("foreign_memory_bytes", d.foreign_memory);
  visit("total_memory_bytes", d.total_memory);
  visit("speed_audio_seconds_per_second", d.speed);
  visit("usual_speed_audio_seconds_per_second", d.usual_speed);
  visit("power_watts", d.watts);
  visit("temperature_celsius", d.celsius);
  visit("data_age_seconds", d.data_age);
  visit("silent_seconds", d.silent);
  visit("audio_done_seconds", d.audio_done);
  visit("busy_ratio", d.busy_share);
  visit("price_usd_per_hour", d.usd_hour);
}

template <class Status, class Visit>
void job_fields(Status& t, Visit&& visit) {
  visit("id", t.id);
  visit("name", t.name);
  visit("device", t.device);
  visit("done_seconds", t.done);
  visit("length_seconds", t.length);
  visit("waiting_for", t.waiting_for);
}

template <class Status, class Visit>
void failure_fields(Status& f, Visit&& visit) {
  visit("name", f.name);
  visit("error", f.error);
  visit("device", f.device);
  visit("attempts", f.attempts);
}

template <class Status, class Visit>
void fleet_fields(Status& s, Visit&& visit) {
  visit("run", s.run);
  visit("state_folder", s.state_folder);
  visit("elapsed_seconds", s.elapsed);
  visit("tasks", s.jobs);
  visit("done", s.done);
  visit("failed", s.failed);
  visit("cancelled", s.cancelled);
  visit("running", s.running);
  visit("audio_done_seconds", s.audio_done);
  visit("audio_total_seconds", s.audio_total);
  visit("left_seconds", s.left);
  visit("left_error_seconds", s.left_error);
  visit("next_device", s.next_device);
  visit("held_up", s.held_up);
  visit("cost_usd", s.cost);
  visit("finding", s.finding);
}

struct Write {
  Json& into;

  void operator()(const char* name, const std::string& value) const {
    if (!value.empty()) into[name] = value;
  }
  void operator()(const char* name, std::size_t value) const { into[name] = value; }
  void operator()(const char* name, double value) const { into[name] = value; }
  void operator()(const char* name, Seconds value) const { into[name] = value.count(); }
  void operator()(const char* name, Bytes value) const { into[name] = value.value; }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) const {
    if (value) (*this)(name, *value);
  }
};

/// Reads members; the first one that is of another type sticks.
struct Read {
  const Json& from;
  std::string& wrong;

  template <class Take>
  void take(const char* name, bool right, const char* expected, Take&& take_it) const {
    if (!from.contains(name)) return;
    if (right)
      take_it(from[name]);
    else if (wrong.empty())
      wrong = std::string("field \"") + name + "\": expected " + expected + ", found " + from[name].type_name();
  }
  bool is(const char* name, bool (Json::*of_type)() const noexcept) const {
    return from.contains(name) && (from[name].*of_type)();
  }
  void operator()(const char* name, std::string& value) const {
    take(name, is(name, &Json::is_string), "text", [&](const Json& found) { value = found.get<std::string>(); });
  }
  void operator()(const char* name, std::size_t& value) const {
    take(name, is(name, &Json::is_number_unsigned), "a count",
         [&](const Json& found) { value = found.get<std::size_t>(); });
  }
  void operator()(const char* name, double& value) const {
    take(name, is(name, &Json::is_number), "a number", [&](const Json& found) { value = found.get<double>(); });
  }
  void operator()(const char* name, Seconds& value) const {
    take(name, is(name, &Json::is_number), "seconds", [&](const Json& found) { value = Seconds(found.get<double>()); });
  }
  void operator()(const char* name, Bytes& value) const {
    take(name, is(name, &Json::is_number_integer), "bytes",
         [&](const Json& found) { value = Bytes{found.get<std::int64_t>()}; });
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) const {
    if (!from.contains(name)) return;
    T read{};
    (*this)(name, read);
    value = read;
  }
};

template <class Item, class Fields>
Json list_of(const std::vector<Item>& items, Fields&& fields) {
  Json list = Json::array();
  for (const Item& item : items) {
    Json entry = Json::object();
    fields(item, Write{entry});
    list.push_back(std::move(entry));
  }
  return list;
}

template <class Item, class Fields>
void read_list(const Json& document, const char* name, std::vector<Item>& into, std::string& wrong, Fields&& fields) {
  if (!document.contains(name)) return;
  if (!document[name].is_array()) {
    if (wrong.empty()) wrong = std::string("field \"") + name + "\": expected a list";
    return;
  }
  for (const Json& entry : document[name]) {
    if (!entry.is_object()) {
      if (wrong.empty()) wrong = std::string("field \"") + name + "\": expected objects in it";
      return;
    }
    fields(into.emplace_back(), Read{entry, wrong});
  }
}

constexpr auto kDeviceFields = [](auto& item, auto&& visit) { device_fields(item, visit); };
constexpr auto kJobFields = [](auto& item, auto&& visit) { job_fields(item, visit); };
constexpr auto kFailureFields = [](auto& item, auto&& visit) { failure_fields(item, visit); };

}  // namespace

std::string fleet_status_json(const FleetStatus& status) {
  Json out{{"version", kVersion}};
  fleet_fields(status, Write{out});
  out["waiting"] = status.waiting();
  out["devices"] = list_of(status.devices, kDeviceFields);
  out["in_work"] = list_of(status.in_work, kJobFields);
  out["failures"] = list_of(status.failures, kFailureFields);
  return json_line(out);
}

Result<FleetStatus> read_fleet_status(std::string_view json) {
  const Json document = Json::parse(json, nullptr, false);
  if (!document.is_object()) return fail(Fault::corrupt, "status of a run: expected a JSON object");
  if (const Json version = document.value("version", Json()); version != kVersion)
    return fail(Fault::unsupported,
                "status of a run: expected version " + std::to_string(kVersion) + ", found " + version.dump(),
                "The run is of another Tutti");
  FleetStatus status;
  std::string wrong;
  fleet_fields(status, Read{document, wrong});
  read_list(document, "devices", status.devices, wrong, kDeviceFields);
  read_list(document, "in_work", status.in_work, wrong, kJobFields);
  read_list(document, "failures", status.failures, wrong, kFailureFields);
  if (!wrong.empty()) return fail(Fault::corrupt, "status of a run: " + wrong);
  return status;
}

}  // namespace tutti
