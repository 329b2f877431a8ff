/** The same answers, each worked out only when the question is not that of the call before: for walks in which most neighbours ask alike. */
export function repeated<Q, A>(answer: (question: Q) => A): (question: Q) => A {
  let last: { readonly question: Q; readonly answer: A } | undefined;
  return (question) => {
    if (last === undefined || last.question !== question) last = { question, answer: answer(question) };
    return last.answer;
  };
}
