#include "recipe/trainers/trainer_settings.h"

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/strings.h"

namespace tutti {

extern const std::string_view kTrainerSettings;  // data/trainer_settings.tsv

namespace {

constexpr std::array kNames{std::pair{std::string_view("loader"), TrainerNames::loader},
                            std::pair{std::string_view("note"), TrainerNames::note},
                            std::pair{std::string_view("common"), TrainerNames::common},
                            std::pair{std::string_view("file"), TrainerNames::file}};

constexpr std::array kTreatments{std::pair{std::string_view("rename"), Treatment::rename},
                                 std::pair{std::string_view("rename-switch"), Treatment::rename_switch},
                                 std::pair{std::string_view("device"), Treatment::device},
                                 std::pair{std::string_view("depth"), Treatment::depth},
                                 std::pair{std::string_view("choose"), Treatment::choose},
                                 std::pair{std::string_view("answer"), Treatment::answer},
                                 std::pair{std::string_view("switch"), Treatment::switched},
                                 std::pair{std::string_view("count"), Treatment::count},
                                 std::pair{std::string_view("truth"), Treatment::truth},
                                 std::pair{std::string_view("folder"), Treatment::folder},
                                 std::pair{std::string_view("refuse"), Treatment::refuse}};

/// The value of a word in such a table. The file is our own: another word is a mistake in it, which every test would
/// show.
template <class Table>
auto value_of_word(const Table& table, std::string_view word) {
  for (const auto& [name, value] : table)
    if (name == word) return value;
  throw std::logic_error("data/trainer_settings.tsv: '" + std::string(word) + "' is not understood");
}

std::map<TrainerNames, TrainerSettings> read_settings() {
  std::map<TrainerNames, TrainerSettings> all;
  for (const auto line : split(kTrainerSettings, '\n')) {
    if (line.empty() || line.starts_with('#')) continue;
    const auto columns = split(line, '\t');
    if (columns.size() != 4)
      throw std::logic_error("data/trainer_settings.tsv: four columns in '" + std::string(line) + "'");
    TrainerSetting setting{.treatment = value_of_word(kTreatments, columns[2]), .text = std::string(columns[3])};
    if (setting.treatment == Treatment::choose) {
      const auto blank = setting.text.find(' ');
      setting.value = setting.text.substr(blank + 1);
      setting.text.resize(blank);
    }
    all[value_of_word(kNames, columns[0])].emplace(columns[1], std::move(setting));
  }
  return all;
}

}  // namespace

bool TrainerSetting::is_renamed() const {
  return treatment == Treatment::rename || treatment == Treatment::rename_switch || treatment == Treatment::device ||
         treatment == Treatment::depth || treatment == Treatment::choose;
}

const TrainerSettings& trainer_settings(TrainerNames names) {
  static const auto all = read_settings();
  return all.at(names);
}

}  // namespace tutti
