#include "profile/device_choice.h"

#include <algorithm>

#include "base/json.h"
#include "base/numbers.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr double kWorthADevice = 1.1;  // times as fast

/// Whether a link of that name goes through a processor. PIX and PXB go through PCIe switches alone.
bool is_slow_link(const std::string& link) {
  return link == "PHB" || link == "NODE" || link == "SYS";
}

constexpr double kBeyond = 1.02;  // what a rate that is measured over some steps may be off by
constexpr const char* kDisturbed = "; more than that bound: other load changed between the runs";

/// What is measured beyond the bound is no gain of the second device.
bool is_worth_it(const DeviceChoice& choice) {
  return std::min(choice.gain(), choice.bound) >= kWorthADevice;
}

}  // namespace

std::string device_choice_text(const DeviceChoice& choice) {
  const auto rate = [](double steps) { return short_number(steps) + " steps a second"; };
  std::string text = "ONE OR TWO DEVICES:\n  " + choice.model + " alone: " + rate(choice.one_rate) + "\n  " +
                     choice.data + " for the features, " + choice.model + " for the steps: " + rate(choice.two_rate) +
                     ", " + fixed_text(choice.gain(), 2) + "x measured, at most " + fixed_text(choice.bound, 2) +
                     "x by the phases of a step on one" + (choice.gain() > kBeyond * choice.bound ? kDisturbed : "") +
                     "\n  Copies: " + fixed_text(1000 * choice.copying.count(), 1) + " ms a step";
  if (choice.link)
    text +=
        ". Link between the two: " + *choice.link +
        (is_slow_link(*choice.link) ? ", a slow one: GPUs on one PCIe switch (PIX, PXB) copy faster" : ", a fast one");
  return text + "\n  " +
         (is_worth_it(choice) ? "The second device is worth it\n"
                              : "The second device is not worth it: it would do more with a training of its own\n");
}

std::string device_choice_json(const DeviceChoice& choice) {
  nlohmann::ordered_json devices{{"data", choice.data},
                                 {"model", choice.model},
                                 {"one_steps_per_s", choice.one_rate},
                                 {"two_steps_per_s", choice.two_rate},
                                 {"gain", choice.gain()},
                                 {"bound", choice.bound},
                                 {"copy_ms", 1000 * choice.copying.count()},
                                 {"link", nullptr},
                                 {"worth", is_worth_it(choice)}};
  if (choice.link) devices["link"] = *choice.link;
  return json_line(nlohmann::ordered_json{{"devices", std::move(devices)}});
}

}  // namespace tutti
