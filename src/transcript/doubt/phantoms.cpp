#include "transcript/doubt/phantoms.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/code_points.h"
#include "text/utf8.h"

namespace tutti {
namespace {

// Alphabetic characters and digits in lower case, everything else left out.
constexpr std::array<std::u32string_view, 26> kPhantoms{
    U"you",
    U"bye",
    U"byebye",
    U"thankyou",
    U"thanks",
    U"thankyousomuch",
    U"thankyouverymuch",
    U"thanksforwatching",
    U"thankyouforwatching",
    U"thankyouforwatchingpleasesubscribe",
    U"pleasesubscribe",
    U"pleasesubscribetomychannel",
    U"subtitlesbytheamaraorgcommunity",
    U"transcriptionbycastingwords",
    U"untertitelderamaraorgcommunity",
    U"untertitelungdeszdffürfunk2017",
    U"vielendankfürszuschauen",
    U"soustitresréalisésparalacommunautédamaraorg",
    U"mercidavoirregardécettevidéo",
    U"subtítulosporlacomunidaddeamaraorg",
    U"sottotitolicreatidallacomunitàamaraorg",
    U"legendaspelacomunidadeamaraorg",
    U"продолжениеследует",
    U"субтитрысделалdimatorzok",
    U"ご視聴ありがとうございました",
    U"请不吝点赞订阅转发打赏支持明镜与点点栏目",
};

}  // namespace

bool is_phantom(std::string_view text) {
  std::u32string letters;
  for (const char32_t value : lower(to_code_points(text)))
    if (is_letter(value) || is_number(value)) letters += value;
  return std::find(kPhantoms.begin(), kPhantoms.end(), letters) != kPhantoms.end();
}

}  // namespace tutti
