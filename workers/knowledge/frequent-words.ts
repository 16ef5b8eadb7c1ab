// Words that say little because every text has them, most frequent first. The builtin embedding gives each line less
// weight than the next, and words in none their full weight. English, and the commonest words of other frequent
// languages.

export const frequentWords: readonly { readonly weight: number; readonly words: string }[] = [
  {
    weight: 0.06,
    words: `a an the and or but nor if then than that this these those there here it its i me my mine you your yours he him his she her hers we us our ours
      they them their theirs who whom whose which what is am are was were be been being do does did done doing have has had having will would shall should
      can could may might must of in on at to from by with without for as into onto over under about between through during after before above below up down
      out off again so too very just only also not no yes any some all both each every such same s t d ll m re ve don doesn didn isn aren wasn weren won`,
  },
  {
    weight: 0.12,
    words: `der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren nicht mit von zu im in am auf für fur an bei aus nach über uber
      ich du er sie es wir ihr mein dein sein wie was wo wer kann muss wird werden haben hat le la les un une des du de et ou mais est sont pas avec pour dans sur
      par ce cette ces je tu il elle nous vous ils elles mon ma mes que qui quoi el los las uno una unos y o pero es son con para en por yo tú ella nosotros se su
      sus como più piu di da del della che non sono gli lo ed um uma os as dos das em no na com não nao het een van met voor op dat zijn ik je og er det som på pa
      til av jeg ikke har hvor hvordan och att är ar jag inte`,
  },
  {
    weight: 0.3,
    words: `how when where why much many more most less least few lot lots own other another else even ever never always often sometimes now still yet already soon
      today because while until since though although however therefore get gets got getting go goes going gone went come comes came make makes made making take
      takes took taken give gives gave given put puts let lets say says said tell tells told know known think want wants wanted need needs see sees seen look looks
      looking use uses used using find finds found keep keeps kept become becomes seem seems like likes way ways thing things something anything nothing everything
      somebody anybody everybody nobody someone anyone everyone one ones two first last next new old good better best well bad right please thanks thank hello hi
      whether rather quite really instead able via per within`,
  },
  {
    weight: 0.55,
    words: `help ask asks asked question questions answer answers try tries tried work works working start starts started stop stops happen happens happened mean means
      meant call calls called name names named number numbers time times day days week weeks month months year years hour hours minute minutes people person man
      woman place places part parts kind kinds case cases point points end ends side big small large little long short high low full whole half several different
      important possible sure true false real easy hard free open close change changes turn turns show shows shown leave leaves left run runs set sets add adds
      read reads write writes send sends sent follow follows choose chosen press click button page pages site website link links list lists line lines word words
      text information info example examples detail details three four five six seven eight nine ten hundred thousand`,
  },
];
