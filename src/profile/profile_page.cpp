#include "profile/profile_page.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "view/markup.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr const char* kHead =
    R"(<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
:root{--bg:#fbfbfa;--card:#fff;--ink:#1d2126;--soft:#5c6670;--line:#d9dde1;--busy:#2f6fae;--starved:#c9d1d9;--blocked:#d99a2b;--limit:#a8321f;--fill:#5a9c7a}
@media (prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1c2024;--ink:#e6e8ea;--soft:#9aa4ae;--line:#33393f;--busy:#6ea8dc;--starved:#3a424a;--blocked:#d8a64a;--limit:#f0917e;--fill:#6fb391}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.45 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1rem}h1{font-size:1.35rem;margin:.4rem 0 .1rem;overflow-wrap:anywhere}h2{font-size:1.05rem;margin:0 0 .6rem}
.soft{color:var(--soft);font-size:.9rem}section{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:1rem;margin:1rem 0}
.finding{border-left:.35rem solid var(--limit);font-size:1.05rem}.finding p{margin:.3rem 0 0;font-size:.95rem}
.pipe{display:flex;flex-wrap:wrap;gap:.5rem;align-items:stretch;margin:0;padding:0;list-style:none}
.pipe>li{display:flex;gap:.5rem;align-items:center;flex:1 1 11rem;min-width:0}
.stage{flex:1;border:1px solid var(--line);border-radius:.4rem;padding:.5rem .6rem;min-width:0;align-self:stretch}.stage.limit{border:2px solid var(--limit)}
.stage b{overflow-wrap:anywhere}.bar{display:flex;height:.6rem;border-radius:.2rem;overflow:hidden;margin:.45rem 0 .3rem;background:var(--starved)}
.bar i{display:block}.b{background:var(--busy)}.s{background:var(--starved)}.k{background:var(--blocked)}
.queue{flex:none;width:2.6rem;text-align:center;font-size:.75rem;color:var(--soft)}.tank{height:2.6rem;width:1.1rem;margin:0 auto .2rem;border:1px solid var(--line);border-radius:.2rem;display:flex;flex-direction:column;justify-content:flex-end;overflow:hidden}
.tank i{display:block;background:var(--fill)}.key{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.7rem 0 0;font-size:.85rem;color:var(--soft)}.key i{display:inline-block;width:.8rem;height:.8rem;border-radius:.15rem;margin-right:.35rem;vertical-align:-.08rem}
.row{margin:.5rem 0}.row svg{display:block;width:100%;height:3.2rem}svg .area{fill:var(--busy);opacity:.75}svg .queued{fill:none;stroke:var(--fill);stroke-width:2;vector-effect:non-scaling-stroke}svg .rate{fill:none;stroke:var(--ink);stroke-width:1.5;vector-effect:non-scaling-stroke}svg .base{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
.axis{display:flex;justify-content:space-between;font-size:.8rem;color:var(--soft)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}td,th{padding:.35rem .5rem;text-align:right;border-top:1px solid var(--line);font-variant-numeric:tabular-nums;white-space:nowrap}th{font-weight:600;border-top:0}td:first-child,th:first-child{text-align:left;white-space:normal;min-width:9rem}
.gain{display:block;position:relative;height:.6rem;min-width:7rem;background:var(--starved);border-radius:.2rem}.gain i{position:absolute;top:0;bottom:0;left:0;background:var(--busy);border-radius:.2rem}.gain u{position:absolute;top:-.15rem;bottom:-.15rem;border-left:2px solid var(--ink)}
code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}
</style>
)";

std::string percent(double share) {
  return fixed_text(100 * share, 1) + " %";
}

std::string width(double share) {
  return "style=\"width:" + fixed_text(100 * std::clamp(share, 0.0, 1.0), 2) + "%\"";
}

std::string stage_card(const PageStage& stage) {
  return std::string("<div class=\"stage") + (stage.is_limit ? " limit" : "") + "\"><b>" + escaped_markup(stage.name) +
         "</b>" + (stage.is_limit ? " <span class=\"soft\">limits</span>" : "") + "<div class=\"soft\">" +
         escaped_markup(stage.resource) + ", " + std::to_string(stage.threads) +
         (stage.threads == 1 ? " thread" : " threads") + "</div><div class=\"bar\" role=\"img\" aria-label=\"busy " +
         percent(stage.busy) + ", starved " + percent(stage.starved) + ", blocked " + percent(stage.blocked) +
         "\"><i class=\"b\" " + width(stage.busy) + "></i><i class=\"k\" " + width(stage.blocked) +
         "></i></div><div class=\"soft\">busy " + percent(stage.busy) + "</div></div>";
}

std::string queue_gauge(const PageStage& stage) {
  const std::string fill = stage.queue_fill ? percent(*stage.queue_fill) : "";
  const std::string height = fixed_text(100 * std::clamp(stage.queue_fill.value_or(0), 0.0, 1.0), 1);
  return "<div class=\"queue\" title=\"queue of " + std::to_string(stage.queue) +
         (fill.empty() ? "" : ", on average " + fill + " full") + "\"><div class=\"tank\"><i style=\"height:" + height +
         "%\"></i></div>" + (fill.empty() ? "" : fixed_text(100 * *stage.queue_fill, 0) + " % of ") +
         std::to_string(stage.queue) + " →</div>";
}

std::string pipeline_section(const ProfilePage& page) {
  std::string html = "<section><h2>Pipeline</h2><ol class=\"pipe\">\n";
  for (const PageStage& stage : page.stages)
    html += "<li>" + stage_card(stage) + (stage.queue > 0 ? queue_gauge(stage) : "") + "</li>\n";
  return html +
         "</ol><div class=\"key\"><span><i class=\"b\"></i>busy</span><span><i class=\"s\"></i>starved: waits for "
         "input, a core or the device</span><span><i class=\"k\"></i>blocked: the queue behind is full</span><span><i "
         "style=\"background:var(--fill)\"></i>how full a queue was</span></div></section>\n";
}

/// Points of a curve over the run, x from 0 to 1000, y from 100 (0) to 0 (1).
std::string points_of(const std::vector<double>& at, const std::vector<double>& shares) {
  std::string points;
  const double whole = at.back();
  for (std::size_t i = 0; i < std::min(at.size(), shares.size()); ++i) {
    const std::string y = fixed_text(100 - 100 * std::clamp(shares[i], 0.0, 1.0), 1);
    if (i == 0) points += "0," + y + " ";
    points += fixed_text(1000 * at[i] / whole, 1) + "," + y + " ";
  }
  return points;
}

std::string timeline_row(const std::string& label, const std::string& picture) {
  return "<div class=\"row\"><div class=\"soft\">" + escaped_markup(label) +
         "</div><svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"" +
         escaped_markup(label) + " over time\"><line class=\"base\" x1=\"0\" y1=\"100\" x2=\"1000\" y2=\"100\"/>" +
         picture + "</svg></div>\n";
}

/// Items a second in each interval, over the largest of them.
std::string rate_row(const RunTimeline& timeline, const std::string& unit) {
  std::vector<double> rates;
  double before_at = 0;
  std::size_t before_done = 0;
  for (std::size_t i = 0; i < timeline.at.size(); ++i) {
    const double gap = timeline.at[i] - before_at;
    rates.push_back(gap > 0 ? static_cast<double>(timeline.done[i] - before_done) / gap : 0);
    before_at = timeline.at[i];
    before_done = timeline.done[i];
  }
  const double most = *std::ranges::max_element(rates);
  if (most <= 0) return {};
  for (double& rate : rates) rate /= most;
  return timeline_row(unit + " a second, up to " + short_number(most),
                      "<polyline class=\"rate\" points=\"" + points_of(timeline.at, rates) + "\"/>");
}

std::string timeline_section(const ProfilePage& page) {
  const RunTimeline& timeline = page.timeline;
  if (timeline.at.size() < 2) return {};
  std::string html = "<section><h2>Over time</h2>\n" + rate_row(timeline, page.unit);
  for (const StageTimeline& stage : timeline.stages) {
    if (stage.busy.size() != timeline.at.size()) continue;
    std::string picture =
        "<polygon class=\"area\" points=\"0,100 " + points_of(timeline.at, stage.busy) + "1000,100\"/>";
    if (std::ranges::any_of(stage.queue, [](double fill) { return fill > 0; }))
      picture += "<polyline class=\"queued\" points=\"" + points_of(timeline.at, stage.queue) + "\"/>";
    html += timeline_row(stage.name, picture);
  }
  return html + "<div class=\"axis\"><span>0 s</span><span>" + short_number(timeline.at.back()) +
         " s</span></div><div class=\"key\"><span><i class=\"b\"></i>busy share of the stage's threads</span><span><i "
         "style=\"background:var(--fill)\"></i>how full the queue behind it is</span></div></section>\n";
}

std::string fixes_section(const ProfilePage& page) {
  if (page.fixes.empty()) return {};
  double most = page.rate;
  for (const PageFix& fix : page.fixes) most = std::max(most, fix.high);
  std::string html = "<section><h2>What would help</h2><div class=\"scroll\"><table><tr><th>change<th>" +
                     escaped_markup(page.unit) + " a second<th>between<th>gain<th>against now (the mark)</tr>\n";
  for (const PageFix& fix : page.fixes)
    html += "<tr><td><code>" + escaped_markup(fix.what) + "</code><td>" + short_number(fix.rate) + "<td>" +
            short_number(fix.low) + " – " + short_number(fix.high) + "<td>+" + fixed_text(100 * fix.gain, 0) +
            " %<td><span class=\"gain\"><i " + width(fix.rate / most) +
            "></i><u style=\"left:" + fixed_text(100 * page.rate / most, 2) + "%\"></u></span></tr>\n";
  return html + "</table></div></section>\n";
}

/// A long title, such as a command with many files, is cut; the whole of it unfolds.
std::string heading(const std::string& title) {
  constexpr std::size_t kColumns = 90;
  if (columns_of(title) <= kColumns) return "<h1>" + escaped_markup(title) + "</h1>";
  return "<h1>" + escaped_markup(fitted(title, kColumns)) +
         "</h1><details class=\"soft\"><summary>all of it</summary>" + "<code>" + escaped_markup(title) +
         "</code></details>";
}

std::string table_section(const ProfilePage& page) {
  std::string html =
      "<section><h2>Stages</h2><div class=\"scroll\"><table><tr><th>stage<th>busy<th>starved<th>blocked<th>mean "
      "ms<th>p95 ms</tr>\n";
  for (const PageStage& stage : page.stages)
    html += "<tr><td>" + escaped_markup(stage.name) + "<td>" + percent(stage.busy) + "<td>" + percent(stage.starved) +
            "<td>" + percent(stage.blocked) + "<td>" + short_number(stage.mean_ms) + "<td>" +
            short_number(stage.p95_ms) + "</tr>\n";
  return html + "</table></div></section>\n";
}

}  // namespace

std::string profile_html(const ProfilePage& page) {
  std::string html =
      "<!DOCTYPE html>\n" + markup_comment(kProfilePageMark) + kHead +
      ("<title>" + escaped_markup(page.title) + "</title></head><body><main>\n" + heading(page.title) +
       "<div class=\"soft\">" + short_number(page.rate) + " " + escaped_markup(page.unit) + " a second</div>\n");
  html += "<section class=\"finding\">" + escaped_markup(page.finding);
  for (const std::string& note : page.notes) html += "<p class=\"soft\">" + escaped_markup(note) + "</p>";
  html += "</section>\n";
  return html + pipeline_section(page) + fixes_section(page) + timeline_section(page) + table_section(page) +
         "</main></body></html>\n";
}

}  // namespace tutti
