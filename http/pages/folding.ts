// Compares texts as the service's searches do, so that the pages' own filters find the same.

export { distinctNames, folded, nameKey } from '../../store/folding.ts';
