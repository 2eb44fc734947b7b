// Licences of the packages in this bundle: editor/licences.txt
import{T as a}from"./editor/chunk-UPBUII2A.js";export{a as createEditor};
