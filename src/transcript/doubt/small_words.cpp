#include "transcript/doubt/small_words.h"

#include <array>
#include <string>

namespace tutti {
namespace {

struct WordList {
  std::string_view language;
  std::u32string_view words;  // separated by single spaces, with one at both ends
};

constexpr std::array kLists{
    WordList{"en",
             U" the of and to in is was that it for on with as his he be at by i you this had not are but from or "
             U"have an they which one were her all she there would their we him been has when who will more no if "
             U"out so what said its about into than them can only other do my your our these "},
    WordList{"de",
             U" der die das und ist nicht ich ein eine einen einem einer zu den dem des mit auf für sich auch es "
             U"er sie wir ihr von im an als wie war aber oder wenn noch nur bei aus nach haben hat hatte wird "
             U"werden sind kann dass so man was mein sein über durch um vor zum zur wurde wurden diese dieser diesem "
             U"diesen hinter waren doch ja mir mich dir man ins "},
    WordList{"fr",
             U" le la les de des du un une et est que qui dans pour pas sur il elle nous vous ils je ne se ce "
             U"cette au aux avec son sa ses par plus mais ou où si leur tout été était sont comme être fait ont "
             U"on lui mon ma même aussi bien sans il avait sous puis donc cela ça fut entre très "},
    WordList{"es",
             U" el la los las de del que y en un una es no por con para se lo al como más pero sus le ya o este "
             U"sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante "
             U"era ser son fue su mi yo ha tiene tienen poca muy está están "},
    WordList{"it",
             U" il lo la i gli le di del della dei delle che e un una è non per con in si da al alla dal ma come "
             U"anche più o se nel nella sono questo questa ha ho era suo sua loro mi ci quando dove chi essere "
             U"tutto cosa molto alcune alcuni alla sempre poi ai degli dai dalle sulla "},
    WordList{"pt",
             U" o a os as de do da dos das que e em um uma é não por com para se no na nos nas ao mais mas como "
             U"foi ele ela seu sua ou quando muito já também só pelo pela até isso entre era depois sem mesmo aos "
             U"seus quem me esse eles você nenhum nenhuma à às num numa pelos "},
    WordList{"nl",
             U" de het een en van ik te dat die in je is niet zijn er op aan met voor hij was als maar om dan zou "
             U"of wat mijn men dit zo door over ze bij ook tot uit naar heeft hebben had deze kan geen nog wel "
             U"wordt zij "},
    WordList{"sv",
             U" och det att i en jag hon som han på den med var sig för så till är men ett om hade de av icke mig "
             U"du henne då sin nu har inte hans honom skulle hennes där min man ej vid kunde något från ut när "},
    WordList{"pl",
             U" nie to się w na i z jest że do co jak ale mnie o tak za a po go ty ten był dla ma tym od już mi "
             U"są być gdy tylko czy przez jego jej które "},
};

}  // namespace

std::vector<SmallWordCount> count_small_words(const std::vector<std::u32string_view>& words) {
  std::vector<SmallWordCount> counts;
  for (const WordList& list : kLists) {
    std::size_t hits = 0;
    for (const std::u32string_view word : words) {
      const std::u32string wanted = U" " + std::u32string(word) + U" ";
      hits += list.words.find(wanted) != std::u32string_view::npos ? 1 : 0;
    }
    counts.push_back({list.language, hits});
  }
  return counts;
}

}  // namespace tutti
