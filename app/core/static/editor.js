// Licences of the packages in this bundle: editor/licences.txt
import{T as a}from"./editor/chunk-O2MLWPSY.js";export{a as createEditor};
