#include "planning/memory/memory_table.h"

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/numbers.h"
#include "hub/memory_plan.h"

namespace tutti {
namespace {

std::string line(const std::array<std::string, 6>& cells) {
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), "  %-13s %10s %12s %12s %12s %6s\n", cells[0].c_str(), cells[1].c_str(),
                cells[2].c_str(), cells[3].c_str(), cells[4].c_str(), cells[5].c_str());
  return text.data();
}

std::string beside(const MemoryQuestion& question) {
  const int ahead = windows_in_flight(question.windows) - question.windows;
  std::string text;
  if (ahead > 0) text += ", " + std::to_string(ahead) + " encoded ahead";
  if (question.fillers > 0) text += ", " + std::to_string(question.fillers) + " sequences that fill up steps";
  return text;
}

/// One line of the table.
struct Need {
  const char* type = "";
  MemoryPlan plan{};
  Bytes together{};
  std::int32_t encoded = 1;  // windows in one encoding, in `together`
  std::int32_t fit = 0;      // the most windows that fit, encoded one at a time
};

std::vector<Need> needs_of(const MemoryQuestion& question) {
  std::vector<Need> needs;
  for (const char* type : {"float32", "bfloat16", "float16", "int8", "int8_float16"}) {
    const std::string_view name = type;
    // A CPU takes another type in place of these (docs/compute-types.md).
    if (!question.gpu && (name == "float16" || name == "int8_float16")) continue;
    auto sizes = *number_sizes(type);
    if (question.byte_cross && name == "int8") sizes.cross = kByteCross;
    const auto plan = memory_plan(question.shape, question.gpu ? on_gpu(sizes) : sizes, question.text_positions);
    const bool fixed_shapes = question.fillers > 0;  // these want one window an encoding
    const auto encoded =
        fixed_shapes ? 1 : encoded_together(plan, question.available, question.windows, question.beams);
    const auto in_work = plan.in_work(question.windows, question.beams, question.fillers);
    needs.push_back({.type = type,
                     .plan = plan,
                     .together = {in_work.value + plan.more_encoded(encoded).value},
                     .encoded = encoded,
                     .fit = slots_that_fit(plan, question.available, question.beams, question.fillers)});
  }
  return needs;
}

}  // namespace

std::string memory_table(const MemoryQuestion& question) {
  const auto count = std::to_string(question.windows);
  std::string text = "Memory for " + count + " windows of " + std::to_string(question.beams) +
                     (question.beams == 1 ? " sequence" : " beams") + " each" + beside(question) + "; " +
                     megabytes_text(question.available) + " are free on " + question.device + ":\n";
  text += line({"", "weights", "per window", "per sequence", "together", "fit"});
  for (const auto& need : needs_of(question)) {
    text += line({need.type, megabytes_text(need.plan.weights), megabytes_text(need.plan.window),
                  megabytes_text(need.plan.sequence), megabytes_text(need.together), std::to_string(need.fit)});
  }
  return text;
}

std::string memory_json(const MemoryQuestion& question) {
  nlohmann::ordered_json types = nlohmann::ordered_json::array();
  for (const auto& need : needs_of(question)) {
    types.push_back({{"compute_type", need.type},
                     {"weights_bytes", need.plan.weights.value},
                     {"window_bytes", need.plan.window.value},
                     {"sequence_bytes", need.plan.sequence.value},
                     {"together_bytes", need.together.value},
                     {"encoded_together", need.encoded},
                     {"fit", need.fit}});
  }
  return json_line(nlohmann::ordered_json{{"event", "memory"},
                                          {"device", question.device},
                                          {"available_bytes", question.available.value},
                                          {"windows", question.windows},
                                          {"encoded_ahead", windows_in_flight(question.windows) - question.windows},
                                          {"sequences_a_window", question.beams},
                                          {"filling_sequences", question.fillers},
                                          {"compute_types", std::move(types)}}) +
         "\n";
}

}  // namespace tutti
