#include "models/edge_search.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {

class EdgeSearch {
public:
  EdgeSearch(const EdgeQuestion& question,
             const std::function<std::vector<Keeps>(const std::vector<double>&)>& look)
      : question_(question), look_(look) {}

  EdgeAnswer run() {
    look_over();
    std::size_t first = 0;
    while (first < looks_.size() and looks_[first].keeps != Keeps::Yes)
      ++first;
    EdgeAnswer out;
    if (first < looks_.size()) {
      out.easy_end_breaks = first > 0;
      std::size_t last = first;
      while (last + 1 < looks_.size() and looks_[last + 1].keeps == Keeps::Yes)
        ++last;
      out.elsewhere = stretches_after(last + 1);
      narrow(last, out);
    }
    std::sort(looks_.begin(), looks_.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
    out.looks = looks_;
    return out;
  }

private:
  double rounded(double value) const {
    return question_.quantum > 0 ? std::round(value / question_.quantum) * question_.quantum : value;
  }

  /// looks_ from the easy end to the hard one.
  void look_over() {
    std::vector<double> values;
    for (int i = 0; i < question_.grid; ++i) {
      const double share = static_cast<double>(i) / (question_.grid - 1);
      const double value = question_.log ? question_.low * std::pow(question_.high / question_.low, share)
                                         : question_.low + (question_.high - question_.low) * share;
      const double whole = i == 0 ? question_.low : i + 1 == question_.grid ? question_.high : rounded(value);
      if (values.empty() or whole > values.back())
        values.push_back(whole);
    }
    if (not question_.largest)
      std::reverse(values.begin(), values.end());
    const auto found = look_(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      looks_.push_back({values[i], found[i]});
  }

  std::vector<std::pair<double, double>> stretches_after(std::size_t from) const {
    std::vector<std::pair<double, double>> out;
    for (std::size_t i = from; i < looks_.size(); ++i) {
      if (looks_[i].keeps != Keeps::Yes)
        continue;
      if (i > from and looks_[i - 1].keeps == Keeps::Yes)
        out.back().second = looks_[i].value;
      else
        out.emplace_back(looks_[i].value, looks_[i].value);
    }
    for (auto& [a, b] : out)
      if (a > b)
        std::swap(a, b);
    std::sort(out.begin(), out.end());
    return out;
  }

  bool near(double a, double b) const {
    const double most = std::max(std::abs(a), std::abs(b));
    return std::abs(a - b) <= std::max(question_.tolerance * most, question_.quantum) * (1 + 1e-12);
  }

  /// Narrows the gap between a value for which `inside` holds and one for which it does not.
  template <class Inside>
  void bisect(EdgeLook& in, EdgeLook& out, Inside inside) {
    while (not near(in.value, out.value)) {
      const double middle =
          rounded(question_.log ? std::sqrt(in.value * out.value) : (in.value + out.value) / 2);
      if (middle == in.value or middle == out.value)
        return;
      const EdgeLook seen{middle, look_({middle}).front()};
      looks_.push_back(seen);
      (inside(seen.keeps) ? in : out) = seen;
    }
  }

  void narrow(std::size_t last, EdgeAnswer& out) {
    EdgeLook keeps = looks_[last];
    if (last + 1 == looks_.size()) {
      out.keeps = keeps.value;
      return;
    }
    EdgeLook beyond = looks_[last + 1];
    std::optional<EdgeLook> broken; // the first look that surely breaks, from there on
    for (std::size_t i = last + 1; not broken and i < looks_.size(); ++i)
      if (looks_[i].keeps == Keeps::No)
        broken = looks_[i];
    bisect(keeps, beyond, [](Keeps seen) { return seen == Keeps::Yes; });
    out.keeps = keeps.value;
    if (beyond.keeps == Keeps::No) {
      out.breaks = beyond.value;
    } else if (broken) {
      for (const EdgeLook& look : looks_) // what the first bisection met on its way
        if (look.keeps == Keeps::No and between(beyond.value, look.value, broken->value))
          broken = look;
      bisect(beyond, *broken, [](Keeps seen) { return seen != Keeps::No; });
      out.breaks = broken->value;
    }
  }

  static bool between(double a, double value, double b) {
    return value > std::min(a, b) and value < std::max(a, b);
  }

  const EdgeQuestion& question_;
  const std::function<std::vector<Keeps>(const std::vector<double>&)>& look_;
  std::vector<EdgeLook> looks_;
};

} // namespace

EdgeAnswer find_edge(const EdgeQuestion& question,
                     const std::function<std::vector<Keeps>(const std::vector<double>&)>& look) {
  REPLISIM_REQUIRE(question.low < question.high and question.grid >= 2, "a range from {} to {}, {} values",
                   question.low, question.high, question.grid);
  return EdgeSearch(question, look).run();
}

} // namespace replisim
