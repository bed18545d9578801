#include "cli/memory_table.h"

#include <array>
#include <cstdio>

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

}  // namespace

std::string memory_table(const MemoryQuestion& question) {
  const auto count = std::to_string(question.windows);
  std::string text = "Memory for " + count + " windows of " + std::to_string(question.beams) +
                     (question.beams == 1 ? " sequence" : " beams") + " each" + beside(question) + "; " +
                     megabytes_text(question.available) + " are free on " + question.device + ":\n";
  text += line({"", "weights", "per window", "per sequence", "together", "fit"});
  for (const char* type : {"float32", "bfloat16", "float16", "int8", "int8_float16"}) {
    auto sizes = *number_sizes(type);
    if (question.byte_cross && type == std::string_view("int8")) sizes.cross = kByteCross;
    const auto plan = memory_plan(question.shape, sizes);
    const Bytes beside_weights{question.available.value - plan.weights.value};
    const Bytes together = plan.in_work(question.windows, question.beams, question.fillers);
    text += line({type, megabytes_text(plan.weights), megabytes_text(plan.window), megabytes_text(plan.sequence),
                  megabytes_text(together),
                  std::to_string(slots_in_free_memory(plan, beside_weights, question.beams, question.fillers))});
  }
  return text;
}

}  // namespace tutti
