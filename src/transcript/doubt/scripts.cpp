#include "transcript/doubt/scripts.h"

#include <algorithm>
#include <array>
#include <string>

namespace tutti {
namespace {

struct Block {
  char32_t first;
  char32_t last;
  Script script;
};

constexpr std::array kBlocks{
    Block{U'A', U'Z', Script::latin},      Block{U'a', U'z', Script::latin},
    Block{0xAA, 0xAA, Script::latin},      Block{0xBA, 0xBA, Script::latin},
    Block{0xC0, 0xD6, Script::latin},      Block{0xD8, 0xF6, Script::latin},
    Block{0xF8, 0x2AF, Script::latin},     Block{0x370, 0x3FF, Script::greek},
    Block{0x400, 0x52F, Script::cyrillic}, Block{0x530, 0x58F, Script::armenian},
    Block{0x590, 0x5FF, Script::hebrew},   Block{0x600, 0x77F, Script::arabic},
    Block{0x8A0, 0x8FF, Script::arabic},   Block{0x900, 0xDFF, Script::indic},
    Block{0xE00, 0x109F, Script::thai},    Block{0x10A0, 0x10FF, Script::georgian},
    Block{0x1100, 0x11FF, Script::hangul}, Block{0x1200, 0x139F, Script::ethiopic},
    Block{0x1780, 0x17FF, Script::thai},   Block{0x1C90, 0x1CBF, Script::georgian},
    Block{0x1E00, 0x1EFF, Script::latin},  Block{0x1F00, 0x1FFF, Script::greek},
    Block{0x2C60, 0x2C7F, Script::latin},  Block{0x3041, 0x30FF, Script::kana},
    Block{0x3130, 0x318F, Script::hangul}, Block{0x31F0, 0x31FF, Script::kana},
    Block{0x3400, 0x4DBF, Script::han},    Block{0x4E00, 0x9FFF, Script::han},
    Block{0xA720, 0xA7FF, Script::latin},  Block{0xAC00, 0xD7AF, Script::hangul},
    Block{0xF900, 0xFAFF, Script::han},    Block{0xFB50, 0xFDFF, Script::arabic},
    Block{0xFE70, 0xFEFF, Script::arabic}, Block{0xFF66, 0xFF9D, Script::kana},
    Block{0x20000, 0x3134F, Script::han},
};

struct LanguageScripts {
  std::string_view codes;  // separated by spaces, with one at both ends
  std::array<Script, 2> scripts;
};

constexpr std::array kLanguages{
    LanguageScripts{
        " en de es fr pt tr pl ca nl sv it id fi vi ms cs ro da hu no hr lt la mi cy sk lv sl et br eu is sw "
        "gl sq yo so af oc fo ht lb nn mt tl mg ha jw su haw ln ",
        {Script::latin, Script::latin}},
    LanguageScripts{" sr bs az uz tk ", {Script::latin, Script::cyrillic}},
    LanguageScripts{" ru uk bg mk kk mn be tg tt ba ", {Script::cyrillic, Script::cyrillic}},
    LanguageScripts{" el ", {Script::greek, Script::greek}},
    LanguageScripts{" hy ", {Script::armenian, Script::armenian}},
    LanguageScripts{" he yi ", {Script::hebrew, Script::hebrew}},
    LanguageScripts{" ar fa ur ps sd ", {Script::arabic, Script::arabic}},
    LanguageScripts{" hi ta te ml kn mr ne si bn gu pa as sa ", {Script::indic, Script::indic}},
    LanguageScripts{" th lo km my bo ", {Script::thai, Script::thai}},
    LanguageScripts{" ka ", {Script::georgian, Script::georgian}},
    LanguageScripts{" am ", {Script::ethiopic, Script::ethiopic}},
    LanguageScripts{" ko ", {Script::hangul, Script::han}},
    LanguageScripts{" ja ", {Script::kana, Script::han}},
    LanguageScripts{" zh yue ", {Script::han, Script::han}},
};

}  // namespace

Script script_of(char32_t value) {
  const auto* block =
      std::find_if(kBlocks.begin(), kBlocks.end(), [&](const Block& b) { return value >= b.first && value <= b.last; });
  return block == kBlocks.end() ? Script::none : block->script;
}

std::string_view name_of(Script script) {
  constexpr std::array<std::string_view, 14> kNames{
      "no",     "Latin",           "Greek",    "Cyrillic", "Armenian", "Hebrew", "Arabic",
      "Indian", "Southeast Asian", "Georgian", "Ethiopic", "Hangul",   "kana",   "Han"};
  return kNames[static_cast<std::size_t>(script)];
}

bool writes_no_spaces(Script script) {
  return script == Script::thai || script == Script::kana || script == Script::han;
}

double fastest_letters(Script script) {
  switch (script) {
    case Script::han:
    case Script::hangul: return 9;  // a syllable each
    case Script::ethiopic: return 12;
    case Script::kana: return 13;  // a mora each
    case Script::hebrew:
    case Script::arabic: return 18;  // vowels are left out
    case Script::none: return 12;    // digits
    default: return 25;
  }
}

std::vector<Script> scripts_of_language(std::string_view code) {
  const std::string wanted = " " + std::string(code) + " ";
  for (const LanguageScripts& row : kLanguages)
    if (!code.empty() && row.codes.find(wanted) != std::string_view::npos) return {row.scripts[0], row.scripts[1]};
  return {};
}

}  // namespace tutti
