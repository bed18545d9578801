#include "cli/flags/shared_flags.h"

#include <utility>

namespace tutti {

void add_outputs(OptionTable& table, std::filesystem::path& folder, std::string& format) {
  table.add("output-dir", folder, "DIR", "where outputs are written; created when missing").letter = 'o';
  Option& names = table.add("output-format", format, "FORMAT", "txt, vtt, srt, tsv, json, or all of them");
  names.letter = 'f';
  names.choices = {"txt", "vtt", "srt", "tsv", "json", "all"};
}

void add_compute_type(OptionTable& table, std::string& type, std::string meaning) {
  table.add("compute-type", type, "TYPE", std::move(meaning)).choices = {
      "default", "auto", "float32", "tf32", "bfloat16", "float16", "int8", "int8_float16"};
}

}  // namespace tutti
