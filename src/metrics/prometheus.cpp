#include "metrics/prometheus.h"

#include <cmath>
#include <string_view>

#include "base/numbers.h"

namespace tutti {
namespace {

std::string escaped(std::string_view text, bool is_label) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\n')
      out += "\\n";
    else if (c == '"' && is_label)
      out += "\\\"";
    else
      out += c;
  }
  return out;
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return number_text(value);
}

std::string label_text(const Labels& labels) {
  if (labels.empty()) return {};
  std::string text;
  for (const auto& [name, value] : labels)
    text += (text.empty() ? "{" : ",") + name + "=\"" + escaped(value, true) + '"';
  return text + "}";
}

class Lines {
 public:
  void header(const MetricSnapshot& metric) {
    static constexpr std::string_view kKinds[] = {"counter", "gauge", "summary"};
    text_ += "# HELP " + metric.id.name + " " + escaped(metric.help, false) + "\n";
    text_.append("# TYPE ").append(metric.id.name).append(" ").append(kKinds[metric.value.index()]).append("\n");
  }
  void values(const MetricId& id, std::uint64_t count) { line(id.name, id.labels, std::to_string(count)); }
  void values(const MetricId& id, double value) { line(id.name, id.labels, number(value)); }
  void values(const MetricId& id, const HistogramSnapshot& histogram) {
    for (const double q : {0.5, 0.9, 0.99}) {
      Labels labels = id.labels;
      labels.emplace_back("quantile", number(q));
      line(id.name, labels, number(histogram.count ? histogram.percentile(q) : std::nan("")));
    }
    line(id.name + "_sum", id.labels, number(histogram.sum));
    line(id.name + "_count", id.labels, std::to_string(histogram.count));
  }
  std::string take() { return std::move(text_); }

 private:
  void line(const std::string& name, const Labels& labels, const std::string& value) {
    text_ += name + label_text(labels) + " " + value + "\n";
  }
  std::string text_;
};

}  // namespace

std::string prometheus_text(std::span<const MetricSnapshot> metrics) {
  Lines lines;
  std::string_view last;
  for (const auto& metric : metrics) {
    if (metric.id.name != last) lines.header(metric);
    last = metric.id.name;
    std::visit([&](const auto& value) { lines.values(metric.id, value); }, metric.value);
  }
  return lines.take();
}

}  // namespace tutti
